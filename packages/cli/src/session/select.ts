import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import { type SessionStatus, STATUSES } from "@holdfast/contract/session/status";
import type { Context, Flags } from "../command.ts";

/** Converts names and filters of the command line to an API query. */
export function selectionOf({ args, flags }: Pick<Context, "args" | "flags">) {
  const split = (name: string) => flags.list(name).flatMap((value) => value.split(","));
  const status = split("status");
  const wrong = status.find((word) => !(STATUSES as readonly string[]).includes(word));
  if (wrong !== undefined) throw new HoldfastError("usage", `${JSON.stringify(wrong)} is not a status`, { candidates: [...STATUSES] });
  return {
    names: args.length > 0 ? [...args] : undefined,
    all: flags.has("all"),
    status: status.length > 0 ? (status as SessionStatus[]) : undefined,
    agent: split("agent").length > 0 ? split("agent") : undefined,
  };
}

/** The sessions a verb acts on; at least one name or filter is required. Ended sessions only if named, or if the verb is for them. */
export async function selected(context: Context, verb: string, of: { ended?: boolean } = {}): Promise<Session[]> {
  const selection = selectionOf(context);
  if (!selection.names && !selection.all && !selection.status && !selection.agent) {
    throw new HoldfastError("usage", `expected the sessions to ${verb}`, {
      hint: `holdfast ${verb} NAME…, or --all, --status, --agent; see holdfast ls`,
    });
  }
  const query = { ...selection, all: selection.all || of.ended === true };
  const { sessions } = await context.client.call("listSessions", { query });
  await warnOfUnknownAgents(context, sessions);
  return sessions;
}

/** `--agent bogus` selects nothing, which looks like success. */
export async function warnOfUnknownAgents(context: Context, sessions: readonly Pick<Session, "agent">[]): Promise<void> {
  const wanted = selectionOf(context).agent?.filter((name) => sessions.every(({ agent }) => agent !== name)) ?? [];
  if (wanted.length === 0 || context.json) return;
  const { PATH: path, HOME: home } = process.env;
  // No warning without a daemon, or for a token that may not list agents.
  const known = await context.client.call("listAgents", { query: { path, home } }).catch(() => undefined);
  for (const name of known ? wanted : []) {
    if (known?.agents.some((agent) => agent.name === name)) continue;
    process.stderr.write(`warning: there is no agent ${JSON.stringify(name)}; list the agents: holdfast agents\n`);
  }
}

/** The one session that a verb names. */
export function oneName(context: Context, usage: string): string {
  const [name, ...more] = context.args;
  if (name === undefined || more.length > 0) {
    throw new HoldfastError("usage", name === undefined ? "expected a session" : "expected one session", {
      hint: `usage: holdfast ${usage}`,
    });
  }
  return name;
}

/** The run in --run; by default the last. */
export function runNumber(flags: Flags): number | undefined {
  return wholeNumber(flags, "run");
}

export function wholeNumber(flags: Flags, name: string): number | undefined {
  const text = flags.text(name);
  if (text === undefined || /^\d{1,9}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new HoldfastError("usage", `--${name} takes a whole number, not ${JSON.stringify(text)}`);
}
