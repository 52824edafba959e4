/** For tests: a daemon with conversations in memory, whose agents say what a test writes. It answers the CLI like the real daemon. */
import type { Approval } from "@holdfast/contract/approval/approval";
import type { Conversation, PlacedEntry } from "@holdfast/contract/conversation/endpoints";
import type { EntryDraft, Settings } from "@holdfast/contract/conversation/transcript";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Message } from "@holdfast/contract/message/message";
import type { Session } from "@holdfast/contract/session/session";
import type { Home } from "@holdfast/platform/home";
import type { HoldfastClient } from "@holdfast/sdk/client";
import type { Context } from "../src/command.ts";

export const ME = "user:tester";

interface Call {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: Record<string, unknown>;
}

export class ScriptedDaemon {
  readonly sessions: Session[] = [];
  readonly entries: PlacedEntry[] = [];
  readonly calls: { name: string; call: Call }[] = [];
  readonly messages: Message[] = [];
  approvals: Approval[] = [];
  settings: Settings | null = {
    mode: "ask",
    modes: [choice("ask"), choice("auto")],
    model: "small",
    models: [choice("small"), choice("large", "Large", "thinks longer")],
    commands: [{ name: "compact", description: "Make the context smaller" }],
  };
  agents: { name: string; structured: string | null }[] = [{ name: "demo", structured: "/bin/demo" }];
  /** Errors for the next calls of an endpoint. */
  readonly failures = new Map<string, unknown[]>();
  /** True if a message begins a turn at once. */
  takes = true;
  #wake = Promise.withResolvers<void>();
  #offset = 0;
  #cut = new AbortController();

  context(more: Partial<Context> & { words?: Record<string, string>; switches?: string[]; env?: string[] } = {}): Context {
    const { words = {}, switches = [], env = [], ...rest } = more;
    const flags = {
      text: (name: string) => words[name],
      list: (name: string) => (name === "env" ? env : []),
      has: (name: string) => switches.includes(name),
    };
    const home = { path: "/nowhere/holdfast" } as Home;
    return { args: [], rest: [], flags, json: false, home, client: this.client, ...rest };
  }

  get client(): HoldfastClient {
    const daemon = this;
    return {
      call: (name: string, call: Call) => daemon.#answer(name, call),
      entries: (call: Call, signal?: AbortSignal) => daemon.#follow(call, signal),
      async *events(_: Call, signal?: AbortSignal) {
        await daemon.#changed(signal);
        yield { type: "session.run_created" };
      },
    } as unknown as HoldfastClient;
  }

  session(name: string, more: Partial<Session> = {}): Session {
    const session = { ...SESSION, id: `${name}0000000000`.slice(0, 10), name, ...more } as Session;
    this.sessions.push(session);
    return session;
  }

  write(draft: EntryDraft, turn: string | null = "turn1"): void {
    this.#offset += 10;
    const cursor = `1.${this.#offset}`;
    const entry = { v: 1, n: this.entries.length + 1, at: new Date(0).toISOString(), turn, ...draft } as PlacedEntry["entry"];
    this.entries.push({ run: 1, cursor, entry });
    this.#notify();
  }

  change(session: Session, change: Partial<Session>): void {
    Object.assign(session, change);
    this.#notify();
  }

  /** Breaks its streams, as if it died; the next calls reach its successor. */
  die(): void {
    this.#cut.abort();
    this.#cut = new AbortController();
  }

  fail(name: string, ...errors: unknown[]): void {
    this.failures.set(name, [...(this.failures.get(name) ?? []), ...errors]);
  }

  asked(name: string): Call[] {
    return this.calls.filter((each) => each.name === name).map(({ call }) => call);
  }

  #notify(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  async #changed(signal?: AbortSignal): Promise<void> {
    const stopped = new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
    await Promise.race([this.#wake.promise, stopped]);
  }

  async *#follow({ query }: Call, signal?: AbortSignal): AsyncGenerator<PlacedEntry> {
    const cut = this.#cut.signal;
    let after = offsetOf(String(query?.after));
    const failure = this.failures.get("followTranscript")?.shift();
    if (failure !== undefined) throw failure;
    while (!signal?.aborted) {
      if (cut.aborted) throw new HoldfastError("daemon_unreachable", "the daemon ended before it answered");
      const next = this.entries.find(({ cursor }) => offsetOf(cursor) > after);
      if (next) {
        after = offsetOf(next.cursor);
        yield next;
      } else if (this.sessions.some(({ endedAt }) => endedAt !== null)) return;
      else await this.#changed(AbortSignal.any([cut, ...(signal ? [signal] : [])]));
    }
  }

  async #answer(name: string, call: Call): Promise<unknown> {
    this.calls.push({ name, call });
    const failure = this.failures.get(name)?.shift();
    if (failure !== undefined) throw failure;
    const answer = (ANSWERS as Record<string, (daemon: ScriptedDaemon, call: Call) => unknown>)[name];
    if (!answer) throw new Error(`a test's daemon does not know ${name}`);
    return structuredClone(answer(this, call));
  }

  find(call: Call): Session {
    const ref = call.params?.ref ?? "";
    const found = this.sessions.find(({ id, name }) => id === ref || name === ref);
    if (!found) throw new HoldfastError("session_not_found", `no session has the name ${ref}`, { candidates: ["near"] });
    return found;
  }

  conversation(call: Call): Conversation {
    const session = this.find(call);
    if (session.kind !== "conversation") throw new HoldfastError("not_a_conversation", `${session.name} is no conversation`);
    return { session, turn: null, settings: this.settings, cursor: this.entries.at(-1)?.cursor ?? "1.0" };
  }

  put(message: Message): void {
    this.messages.push(message);
  }
}

const ANSWERS = {
  spawn: (daemon: ScriptedDaemon, { body }: Call) => daemon.session(String(body?.name ?? "fresh"), { agent: String(body?.agent) }),
  getSession: (daemon: ScriptedDaemon, call: Call) => daemon.find(call),
  getConversation: (daemon: ScriptedDaemon, call: Call) => daemon.conversation(call),
  setConversation: (daemon: ScriptedDaemon, call: Call) => {
    const { mode, model } = call.body ?? {};
    const known = daemon.settings ?? { mode: null, modes: [], model: null, models: [], commands: [] };
    daemon.settings = { ...known, mode: String(mode ?? known.mode), model: String(model ?? known.model) };
    return daemon.conversation(call);
  },
  clearConversation: (daemon: ScriptedDaemon, call: Call) => {
    daemon.write({ type: "note", about: "cleared", text: "the agent's memory is cleared" }, null);
    return daemon.conversation(call);
  },
  cancelTurn: (daemon: ScriptedDaemon, call: Call) => ({
    session: daemon.find(call),
    cancelled: true,
    outcome: "stopped",
    steps: ["protocol"],
  }),
  resumeSession: (daemon: ScriptedDaemon, call: Call) => {
    const session = daemon.find(call);
    daemon.change(session, { endedAt: null, status: "idle", runs: session.runs + 1 });
    return session;
  },
  setBudget: (daemon: ScriptedDaemon, call: Call) => daemon.find(call),
  stopSession: (daemon: ScriptedDaemon, call: Call) => daemon.find(call),
  removeSession: (daemon: ScriptedDaemon, call: Call) => daemon.find(call),
  viewSession: (daemon: ScriptedDaemon, call: Call) => daemon.find(call),
  lookAtSession: (daemon: ScriptedDaemon, call: Call) => daemon.find(call),
  listSessions: (daemon: ScriptedDaemon) => ({ cursor: "a:1", sessions: daemon.sessions }),
  listAgents: (daemon: ScriptedDaemon) => ({ agents: daemon.agents }),
  readTranscript: (daemon: ScriptedDaemon, { query }: Call) => {
    const after = offsetOf(String(query?.after ?? "0.0"));
    const rest = daemon.entries.filter(({ cursor }) => offsetOf(cursor) > after);
    const entries = query?.turns === undefined ? rest.slice(0, 2) : rest;
    return { entries, cursor: entries.at(-1)?.cursor ?? "1.0", more: entries.length < rest.length, damaged: 0 };
  },
  sendMessage: (daemon: ScriptedDaemon, call: Call) => {
    const session = daemon.find(call);
    if (session.endedAt !== null) throw new HoldfastError("session_ended", "it has ended");
    const { text, id, steer } = call.body as { text: string; id: string; steer: boolean };
    const message = {
      id,
      text,
      steer,
      from: ME,
      name: session.name,
      state: "queued",
      why: "the agent works",
      known: true,
      hint: null,
    } as Message;
    daemon.put(message);
    if (daemon.takes) {
      message.state = "turn_started";
      daemon.write({ type: "user", message: id, from: ME as never, text, addition: null, steer }, id);
    }
    return { session, message, typed: null };
  },
  getMessage: (daemon: ScriptedDaemon, { params }: Call) => ({ ...daemon.messages.find(({ id }) => id === params?.id) }),
  cancelMessage: (daemon: ScriptedDaemon, { params }: Call) => {
    const message = daemon.messages.find(({ id }) => id === params?.id);
    if (message) message.state = "cancelled";
    return message;
  },
  listApprovals: (daemon: ScriptedDaemon) => ({ cursor: "a:1", approvals: daemon.approvals }),
  answerApproval: (daemon: ScriptedDaemon, { params }: Call) => {
    const approval = daemon.approvals.find(({ id }) => id === params?.id);
    daemon.approvals = daemon.approvals.filter(({ id }) => id !== params?.id);
    return approval;
  },
};

function offsetOf(cursor: string): number {
  return Number(cursor.split(".")[1]);
}

function choice(id: string, name = id, description: string | null = null) {
  return { id, name, description };
}

const SESSION = {
  kind: "conversation",
  agent: "demo",
  status: "idle",
  statusForMs: null,
  turns: 0,
  conversation: "c1",
  cwd: "/",
  createdAt: new Date(0).toISOString(),
  endedAt: null,
  restartAt: null,
  runs: 1,
  hung: false,
  background: null,
  spent: null,
};
