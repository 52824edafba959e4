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
  throw new HoldfastError("home_unusable", "neither HOLDFAST_HOME nor HOME is set", { hint: "set HOLDFAST_HOME to a directory you own" });
}

/** In a home: where its sockets are, when they are not in their usual place. */
const RECORD = "socket-directory";

/** What the search for a home's sockets needs of the file system. */
export interface PlaceFiles {
  /** Whose it is; undefined where there is nothing. A link is looked at, not followed. */
  ownerOf(path: string): number | undefined;
  /** Undefined where there is none. */
  read(path: string): string | undefined;
  /** Makes a directory for us alone, whose name begins so and cannot be guessed. */
  makeDirectory(prefix: string): string;
  /** Whole or not at all; leaves a file that is there as it is. */
  writeNew(path: string, text: string): void;
  /** A file, or an empty directory. */
  remove(path: string): void;
}

/**
 * The directory of a home's sockets; `home` is its real path. Anybody may make names in /tmp: where somebody else has taken ours, another is
 * made that nobody could have foreseen, and the home says which. Whoever looks next finds that, also when the usual name is free again.
 * Whether a directory is safe to use is another question; this one never belongs to somebody else.
 */
export function socketDirectoryOf(home: string, uid: number, files: PlaceFiles): string {
  const usual = `/tmp/holdfast-${uid}`;
  const record = `${home}/${RECORD}`;
  const isOurs = (place: string) => place.startsWith(`${usual}-`) && /^[\w/-]{1,60}$/.test(place) && files.ownerOf(place) === uid;
  const below = (parent: string) => `${parent}/${shortHash(home)}`;
  const recorded = files.read(record);
  if (recorded !== undefined && isOurs(recorded)) return below(recorded);
  if ((files.ownerOf(usual) ?? uid) === uid) return below(usual);
  // Of a directory that is gone, or not ours any more; somebody may have replaced it meanwhile.
  if (recorded !== undefined && files.read(record) === recorded) files.remove(record);
  const made = files.makeDirectory(`${usual}-`);
  files.writeNew(record, made);
  const first = files.read(record);
  if (first === undefined || first === made || !isOurs(first)) return below(made);
  files.remove(made);
  return below(first);
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
