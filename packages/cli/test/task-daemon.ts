/** For tests: the parts of a daemon that a task file needs, with sessions, messages and tasks in memory, and agents that answer at once. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { HoldfastClient } from "@holdfast/sdk/client";

interface SpawnedSession {
  id: string;
  name: string;
  agent: string;
  kind: string;
  objective: string;
  cwd: string;
  turns: number;
  attention: { for: string; text: string | null; until: null } | null;
  endedAt: string | null;
  restartAt: null;
  budget: unknown;
}

interface SaidMessage {
  id: string;
  session: string;
  name: string;
  text: string;
  state: string;
  reply: string | null;
  why: string | null;
  hint: null;
  endedAt: string | null;
  settled: boolean;
  known: boolean;
}

interface GivenTask {
  id: string;
  session: string;
  name: string;
  title: string;
  file: string | null;
  label: string | null;
  turns: number;
  outcome: string | null;
  why: string | null;
}

type Call = { params?: Record<string, string>; query?: Record<string, unknown>; body?: Record<string, unknown> };

export class ScriptedDaemon {
  readonly log: string[] = [];
  readonly sessions: SpawnedSession[] = [];
  readonly messages: SaidMessage[] = [];
  readonly tasks: GivenTask[] = [];
  readonly spawned: Record<string, unknown>[] = [];
  readonly agents = [{ name: "demo", structured: "/bin/demo" }];
  personas: unknown[] = [];
  /** Sets a message's outcome when it is read, by its text. */
  answer: (message: SaidMessage) => void = (message) => Object.assign(message, { state: "replied", reply: "yes", endedAt: "now" });
  /** Thrown by the next call of this endpoint. */
  readonly fails = new Map<string, HoldfastError>();

  get client(): HoldfastClient {
    return { call: (name: string, call: Call = {}) => this.#call(name, call) } as unknown as HoldfastClient;
  }

  session(ref: string): SpawnedSession {
    const found = this.sessions.find(({ id, name }) => id === ref || name === ref);
    if (!found) throw new HoldfastError("session_not_found", `no session ${ref}`);
    return found;
  }

  async #call(name: string, { params = {}, query = {}, body = {} }: Call): Promise<unknown> {
    this.log.push(`${name} ${params.ref ?? params.id ?? ""}`.trim());
    const failure = this.fails.get(name);
    this.fails.delete(name);
    if (failure) throw failure;
    const endpoints: Record<string, () => unknown> = {
      listAgents: () => ({ agents: this.agents }),
      listPersonas: () => ({ personas: this.personas, problems: [] }),
      listTasks: () => ({
        tasks: this.tasks.filter(
          ({ file, session, outcome }) =>
            [file, session].includes(String(query.file ?? query.session)) && (!query.open || outcome === null),
        ),
      }),
      getSession: () => this.session(params.ref ?? ""),
      resumeSession: () => Object.assign(this.session(params.ref ?? ""), { endedAt: null, resumed: "conversation" }),
      stopSession: () => ({ session: Object.assign(this.session(params.ref ?? ""), { endedAt: "now" }), killed: [] }),
      spawn: () => this.#spawn(body),
      startTask: () => this.#startTask(params.ref ?? "", body),
      endTask: () => Object.assign(this.tasks.find(({ id }) => id === params.id) ?? {}, body),
      sendMessage: () => this.#say(params.ref ?? "", body),
      getMessage: () => {
        const message = this.messages.find(({ id }) => id === params.id) as SaidMessage;
        this.answer(message);
        return { ...message };
      },
    };
    const endpoint = endpoints[name];
    if (!endpoint) throw new Error(`the scripted daemon has no ${name}`);
    return endpoint();
  }

  #spawn(body: Record<string, unknown>): SpawnedSession {
    const name = String(body.name ?? `spare-${this.sessions.length + 1}`);
    if (this.sessions.some((session) => session.name === name)) throw new HoldfastError("name_taken", `${name} is taken`);
    this.spawned.push(body);
    const session = {
      id: `id-${this.sessions.length + 1}`,
      name,
      agent: String(body.agent),
      kind: "conversation",
      objective: String(body.objective),
      cwd: String(body.cwd),
      turns: 0,
      attention: null,
      endedAt: null,
      restartAt: null,
      budget: null,
    };
    this.sessions.push(session);
    return session;
  }

  #startTask(ref: string, body: Record<string, unknown>): GivenTask {
    const { id: session, name } = this.session(ref);
    const task = { id: `task-${this.tasks.length + 1}`, session, name, outcome: null, why: null, ...body } as unknown as GivenTask;
    this.tasks.push(task);
    return task;
  }

  #say(ref: string, { id, text }: Record<string, unknown>): { session: SpawnedSession; message: SaidMessage | null } {
    const session = this.session(ref);
    const known = this.messages.find((message) => message.id === id);
    if (known) return { session, message: { ...known } };
    const message: SaidMessage = {
      id: String(id),
      session: session.id,
      name: session.name,
      text: String(text),
      state: "queued",
      reply: null,
      why: null,
      hint: null,
      endedAt: null,
      settled: false,
      known: true,
    };
    this.messages.push(message);
    return { session, message: { ...message } };
  }
}
