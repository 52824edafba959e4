/** Finds or starts the wanted conversation: a running one, the next run of an ended one, or a new one. */

import type { AgentInfo } from "@holdfast/contract/agent/endpoints";
import type { Conversation } from "@holdfast/contract/conversation/endpoints";
import type { Entry } from "@holdfast/contract/conversation/transcript";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import type { Context } from "../command.ts";
import { startFlags, worktreeOf } from "../session/start.ts";
import { plain } from "../text/plain.ts";
import { trusting } from "../workspace/trusting.ts";
import { goOn, joinGroups, refuseKept } from "./existing.ts";

export interface Wanted {
  /** Reference to an existing conversation. */
  existing?: string | undefined;
  /** If no conversation has this name, take the name as an agent. */
  orAgent?: boolean | undefined;
  /** The conversation's name, existing or new. */
  name?: string | undefined;
  agent?: string | undefined;
  persona?: string | undefined;
  model?: string | undefined;
  mode?: string | undefined;
  /** The command line's options belong to another conversation; ignore them. */
  asItIs?: boolean | undefined;
  /** A person is at the terminal. */
  attended?: boolean | undefined;
  /** Arguments for the agent's command. */
  args?: readonly string[] | undefined;
}

export interface Opened {
  session: Session;
  conversation: Conversation | undefined;
  /** The conversation is new. */
  created: boolean;
  /** The person chose its name. */
  named: boolean;
  /** The agent was started by this call: the conversation is new, or had ended. */
  started: boolean;
  /** Notes for the person about how the conversation was opened. */
  notes: string[];
  /** A model or a mode was given by name, so no other may answer instead. */
  insists: boolean;
}

/** Returns the reason to refuse a new conversation: its agent does not offer the named model or mode. */
export function refusalIn({ created, insists }: Pick<Opened, "created" | "insists">, entry: Entry): HoldfastError | undefined {
  if (!created || !insists || entry.type !== "note" || entry.about !== "not_set") return undefined;
  return new HoldfastError("not_offered", plain(entry.text), { hint: "choose one of those, or omit --model and --mode" });
}

/** Removes a conversation that was refused before its first message. */
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
  const conversation = await client.call("getConversation", { params: { ref } }).catch(asTerminal(context, ref));
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
    // Do not leave an agent running that was started only for this.
    if (started) await client.call("stopSession", { params: { ref: session.id }, body: { graceMs: 2000 } }).catch(() => {});
    throw error;
  }
  return { session, conversation, created: false, named: true, started, notes, insists: false };
}

/** The session may have the name of an agent, as the one that `npm start` makes. */
function asTerminal(context: Context, ref: string): (error: unknown) => Promise<never> {
  return async (error) => {
    if (!(error instanceof HoldfastError) || error.code !== "not_a_conversation") throw error;
    const other = (await hasAgent(context, ref)) ? `; start a conversation with the agent ${ref}: holdfast chat --agent ${ref}` : "";
    throw new HoldfastError("not_a_conversation", error.message, { hint: `attach to it: holdfast attach ${ref}${other}`, cause: error });
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
  const named = wanted.name !== undefined;
  // A daemon of an older version sends no notes.
  const { notes = [] } = session as Partial<typeof session>;
  return { session, conversation: undefined, created: true, named, started: true, notes: [...notes], insists };
}

/** Built-in agents, always available. */
const OURS: ReadonlySet<string> = new Set(["demo", "model"]);

/** The default agent: the only available one besides the built-in agents. */
async function onlyAgent({ client }: Context): Promise<string> {
  const { agents } = await client.call("listAgents", { query: { path: process.env.PATH, home: process.env.HOME } });
  const able = agents.filter(({ structured }) => structured !== null).map(({ name }) => name);
  const real = able.filter((name) => !OURS.has(name));
  if (real.length === 1) return real[0] as string;
  throw new HoldfastError("usage", "expected an agent", { hint: "for example: holdfast chat demo", candidates: able });
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
