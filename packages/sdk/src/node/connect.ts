/** A program on Node and the daemon of its user: found by the home's socket and started where it does not run; or one at an address. */
import { type Acting, actingIn } from "../acting.ts";
import { HoldfastClient } from "../client.ts";
import { Holdfast } from "../holdfast.ts";
import { Query, type QueryOptions } from "../query.ts";
import type { Surroundings } from "../sessions.ts";
import { httpTransport } from "../transport/http.ts";
import type { Transport } from "../transport.ts";
import { homeAt, sharedAt } from "./home.ts";
import { refuseInsideRun } from "./inside-a-run.ts";
import { onDemand } from "./on-demand.ts";

export interface ConnectOptions {
  /** The home of the daemon; as HOLDFAST_HOME says, or the user's own, where nothing is said. */
  home?: string;
  /** A daemon that listens elsewhere: `http://127.0.0.1:8080`, or `unix:PATH` of one that is shared. HOLDFAST_URL where nothing is said. */
  url?: string;
  /** Whom to act as; HOLDFAST_TOKEN where nothing is said, so that inside a session a program acts as the session. */
  token?: string;
  /** Act as your own user, without a token. Only needed inside a run, where `connect` refuses to do so unless you say it. */
  as?: "owner";
  /** False: a daemon that does not run is not started. */
  start?: boolean;
  /** The `holdfast` program that starts it; the one that this SDK came with, else the one on PATH, where nothing is said. */
  program?: string;
  signal?: AbortSignal;
}

/** A connection to the daemon, once it has answered. */
export async function connect(options: ConnectOptions = {}): Promise<Holdfast> {
  const holdfast = new Holdfast(new HoldfastClient(transportOf(options)), HERE);
  await holdfast.status(options.signal);
  return holdfast;
}

/** One question to an agent, on a connection of its own. */
export function query(options: QueryOptions & Omit<ConnectOptions, "signal">): Query {
  const { home: _home, url: _url, token: _token, as: _as, start: _start, program: _program, ...asked } = options;
  const client = new HoldfastClient(transportOf(options));
  return new Query(client, asked, { around: HERE, onOver: () => client[Symbol.dispose]() });
}

const HERE: Surroundings = {
  cwd: () => process.cwd(),
  env: () => Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined)),
  umask: () => process.umask(),
};

function transportOf({ home, program, start = true, ...options }: ConnectOptions): Transport {
  const acting = actingAs(options);
  const url = options.url ?? (home === undefined ? process.env.HOLDFAST_URL : undefined);
  if (url?.startsWith("unix:")) return onDemand(sharedAt(url.slice("unix:".length)), acting);
  if (url) return httpTransport(url, acting);
  const place = homeAt(home);
  if (place.home !== undefined) refuseInsideRun(place.home, acting);
  return onDemand(place, { ...acting, ...(start ? { starter: { program } } : {}) });
}

function actingAs({ token, as }: Pick<ConnectOptions, "token" | "as">): Acting {
  if (token !== undefined) return { token: token || undefined };
  return as === undefined ? actingIn(process.env) : { token: undefined, as };
}
