/**
 * Where a home is, and where its daemon listens. In one place, for the daemon and for every client; nothing of Node here, so that whoever
 * may import the contract only can find it too.
 */
import { HoldfastError } from "./errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The home that an environment names; it may not exist yet, nor be spelled as the file system does. */
export function homeIn(env: Environment): string {
  if (env.HOLDFAST_HOME) return env.HOLDFAST_HOME;
  // One that is not absolute is none, says its specification.
  if (env.XDG_STATE_HOME?.startsWith("/")) return `${env.XDG_STATE_HOME}/holdfast`;
  if (env.HOME) return `${env.HOME}/.local/state/holdfast`;
  throw new HoldfastError("home_unusable", "neither HOLDFAST_HOME nor HOME is set", { hint: "set HOLDFAST_HOME to a directory of yours" });
}

/** The directory of a home's sockets; `home` is its real path. */
export function socketDirectoryOf(home: string, uid: number): string {
  return `/tmp/holdfast-${uid}/${shortHash(home)}`;
}

export function daemonSocketIn(socketDirectory: string): string {
  return `${socketDirectory}/daemon.sock`;
}

/** 64-bit FNV-1a in hex: names a directory, protects nothing; importing node:crypto costs the CLI milliseconds. */
export function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, "0");
}
