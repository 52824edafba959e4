/** Sessions: start them, find them, remove them. */
import type { SessionStatus } from "@holdfast/contract/status";
import type { HoldfastClient } from "./client.ts";
import type { Endpoints } from "./endpoints.ts";
import { errorOf } from "./errors.ts";
import { Session } from "./session.ts";

type SpawnRequest = Endpoints["spawn"]["call"]["body"];

/** Options of a new session. Only the agent is required, or a persona that names one. */
export type SessionOptions = Partial<Omit<SpawnRequest, "env">> & {
  /** Variables on top of the program's own environment. */
  env?: Record<string, string>;
};

export interface ListOptions {
  /** Also those that have ended. */
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

/** Sessions: start them, find them, remove them. */
export class Sessions {
  readonly #client: HoldfastClient;
  readonly #around: Surroundings;

  /** `holdfast.sessions` is one. */
  constructor(client: HoldfastClient, around: Surroundings = {}) {
    this.#client = client;
    this.#around = around;
  }

  /** Starts a session; answers once its program runs. With `start: false` nothing runs until `session.start()`. */
  async create(options: SessionOptions): Promise<Session> {
    return new Session(this.#client, await this.#client.call("spawn", { body: spawnRequest(options, this.#around) }));
  }

  /** By name, id, or the beginning of an id. */
  async get(ref: string, signal?: AbortSignal): Promise<Session> {
    return new Session(this.#client, await this.#client.call("getSession", { params: { ref } }, signal));
  }

  /** Those that run, unless `all`, `status` or `names` says otherwise. */
  async list({ signal, status, agent, names, all }: ListOptions = {}): Promise<Session[]> {
    const query = { all, status: copied(status), agent: copied(agent), names: copied(names) };
    const { sessions } = await this.#client.call("listSessions", { query }, signal);
    return sessions.map((record) => new Session(this.#client, record));
  }

  /** Removes the record and the files of one; with `force` it is stopped first. */
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
