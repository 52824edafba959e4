/** Which conversation is meant, and that it is there: one that runs, the next run of one that has ended, or a new one. */
import type { Conversation } from "@holdfast/contract/conversation-endpoints";
import type { AgentInfo } from "@holdfast/contract/endpoints";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session";
import type { Entry } from "@holdfast/contract/transcript";
import type { Context } from "../command.ts";
import { plain } from "../plain.ts";
import { startFlags, worktreeOf } from "../start-session.ts";
import { trusting } from "../trusting.ts";
import { goOn, joinGroups, refuseKept } from "./existing.ts";

export interface Wanted {
  /** One that is there. */
  existing?: string | undefined;
  /** Where there is none of that name, an agent of it is meant. */
  orAgent?: boolean | undefined;
  /** What it is called, whether it is there or not. */
  name?: string | undefined;
  agent?: string | undefined;
  persona?: string | undefined;
  model?: string | undefined;
  mode?: string | undefined;
  /** The options of the command line were about another one. */
  asItIs?: boolean | undefined;
  /** A person talks to it here. */
  attended?: boolean | undefined;
  /** Words for the agent's command. */
  args?: readonly string[] | undefined;
}

export interface Opened {
  session: Session;
  conversation: Conversation | undefined;
  /** It is new. */
  created: boolean;
  /** Its agent was started for this: it is new, or had ended. */
  started: boolean;
  /** What people are to know of how it was opened. */
  notes: string[];
  /** A model or a mode was asked for by name, so another one must not answer in its place. */
  insists: boolean;
}

/** Why a new conversation is refused: its agent does not offer what was asked for by name. */
export function refusalIn({ created, insists }: Pick<Opened, "created" | "insists">, entry: Entry): HoldfastError | undefined {
  if (!created || !insists || entry.type !== "note" || entry.about !== "not_set") return undefined;
  return new HoldfastError("not_offered", plain(entry.text), { hint: "choose one of those, or leave out --model and --mode" });
}

/** A conversation that was refused before anything was said leaves nothing behind. */
export async function discard({ client }: Context, { session }: Opened): Promise<void> {
  const params = { ref: session.id };
  await client.call("stopSession", { params, body: { graceMs: 2000 } }).catch(() => {});
  await client.call("removeSession", { params }).catch(() => {});
}

export async function openConversation(context: Context, wanted: Wanted): Promise<Opened> {
  const { existing, name } = wanted;
  const ref = existing ?? name;
  if (ref === undefined) return begin(context, wanted);
  try {
    return await join(context, ref, wanted);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "session_not_found") throw error;
    const isNew = existing === undefined && (wanted.agent !== undefined || wanted.persona !== undefined);
    if (isNew) {
      const isWord = wanted.orAgent && wanted.agent === undefined && (await hasAgent(context, ref));
      return begin(context, isWord ? { ...wanted, name: undefined, agent: ref } : wanted);
    }
    const isAgent = await hasAgent(context, ref);
    if (isAgent && wanted.orAgent) return begin(context, { ...wanted, agent: ref });
    throw unknown(ref, isAgent, error);
  }
}

async function join(context: Context, ref: string, wanted: Wanted): Promise<Opened> {
  const { client } = context;
  const conversation = await client.call("getConversation", { params: { ref } }).catch(asTerminal(ref));
  const { session } = conversation;
  if (wanted.agent !== undefined && wanted.agent !== session.agent) {
    throw new HoldfastError("name_taken", `${session.name} is a conversation with ${session.agent}, not with ${wanted.agent}`, {
      hint: "omit --agent to continue it, or choose another name",
    });
  }
  if (wanted.persona !== undefined && wanted.persona !== session.role) {
    throw new HoldfastError("name_taken", `${session.name} exists and was not started with persona ${wanted.persona}`, {
      hint: "omit --persona to continue it, or choose another name: --session NAME",
    });
  }
  if (!wanted.asItIs) refuseKept(context.flags, { session, args: wanted.args ?? [] });
  const { started, notes } = await goOn(context, conversation, wanted);
  const { model, mode } = wanted;
  try {
    if (model !== undefined || mode !== undefined)
      await client.call("setConversation", { params: { ref: session.id }, body: { model, mode } });
    if (!wanted.asItIs) await joinGroups(context, session);
  } catch (error) {
    // It was started for nothing.
    if (started) await client.call("stopSession", { params: { ref: session.id }, body: { graceMs: 2000 } }).catch(() => {});
    throw error;
  }
  return { session, conversation, created: false, started, notes, insists: false };
}

function asTerminal(ref: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof HoldfastError) || error.code !== "not_a_conversation") throw error;
    throw new HoldfastError("not_a_conversation", error.message, { hint: `attach to it: holdfast attach ${ref}`, cause: error });
  };
}

async function begin(context: Context, wanted: Wanted): Promise<Opened> {
  const { client, flags } = context;
  const agent = wanted.agent ?? (wanted.persona === undefined ? await onlyAgent(context) : undefined);
  const body = {
    ...startFlags(flags),
    agent: agent ?? "",
    name: wanted.name,
    persona: wanted.persona,
    chat: true,
    ...(wanted.attended ? { attended: true } : {}),
    args: [...(wanted.args ?? [])],
    worktree: worktreeOf(flags),
    workspace: flags.text("workspace"),
    model: wanted.model,
    mode: wanted.mode,
  };
  const session = await trusting(context, () => client.call("spawn", { body }));
  const insists = wanted.model !== undefined || wanted.mode !== undefined;
  return { session, conversation: undefined, created: true, started: true, notes: [], insists };
}

/** They are always there. */
const OURS: ReadonlySet<string> = new Set(["demo", "model"]);

/** Where nobody said which: the one that is there, beside our own. */
async function onlyAgent({ client }: Context): Promise<string> {
  const { agents } = await client.call("listAgents", { query: { path: process.env.PATH, home: process.env.HOME } });
  const able = agents.filter(({ structured }) => structured !== null).map(({ name }) => name);
  const real = able.filter((name) => !OURS.has(name));
  if (real.length === 1) return real[0] as string;
  throw new HoldfastError("usage", "name an agent", { hint: "for example: holdfast chat demo", candidates: able });
}

async function hasAgent({ client }: Context, name: string): Promise<boolean> {
  const { agents } = await client.call("listAgents", {}).catch(() => ({ agents: [] as AgentInfo[] }));
  return agents.some((agent) => agent.name === name);
}

function unknown(name: string, isAgent: boolean, { candidates }: HoldfastError): HoldfastError {
  const hint = isAgent ? `start one with this agent: holdfast chat ${name}` : `start one: holdfast chat --session ${name} --agent AGENT`;
  return new HoldfastError("session_not_found", `there is no conversation ${JSON.stringify(name)}`, {
    hint,
    ...(candidates ? { candidates } : {}),
  });
}
