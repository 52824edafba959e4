/** Starts, finds and removes sessions. */
import type { SessionStatus } from "@holdfast/contract/session/status";
import type { HoldfastClient } from "./client.ts";
import type { Endpoints } from "./endpoints.ts";
import { errorOf } from "./errors.ts";
import { Session } from "./session.ts";

type SpawnRequest = Endpoints["spawn"]["call"]["body"];

/** Options of a new session. Only the agent is required, or a persona that names one. */
export type SessionOptions = Partial<Omit<SpawnRequest, "env">> & {
  /** Variables in addition to the program's own environment. */
  env?: Record<string, string>;
};

export interface ListOptions {
  /** Include sessions that have ended. */
  all?: boolean;
  status?: readonly SessionStatus[];
  agent?: readonly string[];
  names?: readonly string[];
  signal?: AbortSignal;
}

/** The program's working directory and environment. A browser has neither. */
export interface Surroundings {
  cwd?(): string;
  env?(): Record<string, string>;
  umask?(): number;
}

/** Starts, finds and removes sessions. */
export class Sessions {
  readonly #client: HoldfastClient;
  readonly #around: Surroundings;

  /** Programs use `holdfast.sessions` instead. */
  constructor(client: HoldfastClient, around: Surroundings = {}) {
    this.#client = client;
    this.#around = around;
  }

  /** Creates and starts a session; resolves once its program runs. With `start: false` nothing runs until `session.start()`. */
  async create(options: SessionOptions): Promise<Session> {
    return new Session(this.#client, await this.#client.call("spawn", { body: spawnRequest(options, this.#around) }));
  }

  /** Finds a session by name, id or id prefix. */
  async get(ref: string, signal?: AbortSignal): Promise<Session> {
    return new Session(this.#client, await this.#client.call("getSession", { params: { ref } }, signal));
  }

  /** Running sessions, unless `all`, `status` or `names` says otherwise. */
  async list({ signal, status, agent, names, all }: ListOptions = {}): Promise<Session[]> {
    const query = { all, status: copied(status), agent: copied(agent), names: copied(names) };
    const { sessions } = await this.#client.call("listSessions", { query }, signal);
    return sessions.map((record) => new Session(this.#client, record));
  }

  /** Removes the record and the files of a session. `force` stops it first. */
  async remove(ref: string, options: { force?: boolean } = {}): Promise<void> {
    const session = await this.get(ref);
    if (options.force) await session.stop();
    await session.remove();
  }
}

export function spawnRequest({ env, cwd, agent = "", ...more }: SessionOptions, around: Surroundings): SpawnRequest {
  const place = cwd ?? around.cwd?.();
  if (place === undefined)
    throw errorOf("usage", "the session has no working directory", { hint: "pass cwd, a directory on the daemon's machine" });
  return { ...more, agent, cwd: place, env: { ...around.env?.(), ...env }, umask: more.umask ?? around.umask?.() };
}

function copied<T>(list: readonly T[] | undefined): T[] | undefined {
  return list === undefined ? undefined : [...list];
}
