/** Options for an existing conversation: each is applied, or refused by name. None is ignored. */
import type { Conversation } from "@holdfast/contract/conversation/endpoints";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import type { Context, Flags } from "../command.ts";
import { isOver } from "../session/next-run.ts";
import { environmentOf, groupsOf } from "../session/start.ts";
import { plain } from "../text/plain.ts";
import { parseBudget } from "../usage/budget-flag.ts";

/** Settings that a session keeps from its start. */
const KEPT = ["cwd", "worktree", "base", "workspace", "role", "objective"] as const;
const KEPT_SWITCHES = ["no-setup", "trust"] as const;

/** Grace period for stopping an agent that restarts with other variables. */
const GRACE_MS = 5000;

export function refuseKept(flags: Flags, { session, args }: { session: Session; args: readonly string[] }): void {
  const text = KEPT.find((flag) => flags.text(flag) !== undefined);
  const found = text ?? KEPT_SWITCHES.find((flag) => flags.has(flag));
  if (found !== undefined) throw kept(`--${found}`, `--${found}${text === undefined ? "" : " …"}`, session);
  if (args.length > 0) throw kept("arguments after --", `-- ${args.join(" ")}`, session);
}

function kept(what: string, again: string, { name, agent }: Session): HoldfastError {
  return new HoldfastError("usage", `${what} cannot be changed for an existing session (${name})`, {
    hint: `omit it, or start a new conversation: holdfast chat ${agent} ${again}`,
  });
}

/** Returns whether the agent was started by this call, and notes for the person. */
export async function goOn(
  { client, flags }: Context,
  { session, turn }: Conversation,
  { asItIs = false }: { asItIs?: boolean | undefined } = {},
): Promise<{ started: boolean; notes: string[] }> {
  const params = { ref: session.id };
  const given = { env: environmentOf(flags), budget: parseBudget(flags.text("budget")) };
  const { env, budget } = asItIs ? { env: undefined, budget: undefined } : given;
  if (isOver(session)) {
    await client.call("resumeSession", { params, body: { env, budget } });
    return { started: true, notes: [] };
  }
  if (env && turn !== null) {
    throw new HoldfastError("usage", `${plain(session.name)} is in a turn; --env restarts its agent`, {
      hint: `wait for the end of the turn, or cancel it: holdfast cancel ${plain(session.name)}`,
    });
  }
  if (budget && !env) await client.call("setBudget", { params, body: budget });
  if (!env) return { started: false, notes: [] };
  await client.call("stopSession", { params, body: { graceMs: GRACE_MS } });
  await client.call("resumeSession", { params, body: { env, budget } });
  return { started: false, notes: [`its agent was restarted with ${Object.keys(env).join(", ")}`] };
}

/** Joins all groups or none. This is the last step, so that a conversation that cannot be opened joins no group. */
export async function joinGroups({ client, flags }: Context, { id }: Session): Promise<void> {
  const joined: string[] = [];
  try {
    for (const group of groupsOf(flags) ?? []) {
      const { joined: names } = await client.call("joinGroup", { params: { group }, body: { sessions: [id] } });
      if (names.length > 0) joined.push(group);
    }
  } catch (error) {
    for (const group of joined) await client.call("leaveGroup", { params: { group, ref: id } }).catch(() => {});
    throw error;
  }
}
