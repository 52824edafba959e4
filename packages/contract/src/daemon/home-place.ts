/**
 * The location of a home and of its daemon's socket, for the daemon and every client. Without Node's modules, because some clients may import only
 * the contract.
 */
import { HoldfastError } from "../errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The home that an environment names. It may not exist yet, and may not be the real path. */
export function homeIn(env: Environment): string {
  if (env.HOLDFAST_HOME) return env.HOLDFAST_HOME;
  // The XDG specification says to ignore relative paths.
  if (env.XDG_STATE_HOME?.startsWith("/")) return `${env.XDG_STATE_HOME}/holdfast`;
  if (env.HOME) return `${env.HOME}/.local/state/holdfast`;
  throw new HoldfastError("home_unusable", "neither HOLDFAST_HOME nor HOME is set", { hint: "set HOLDFAST_HOME to a directory you own" });
}

/** File in a home that names its socket directory, if that is not the usual one. */
const RECORD = "socket-directory";

/** File system access for the search. */
export interface PlaceFiles {
  /** Uid of the owner; undefined if the path does not exist. Links are not followed. */
  ownerOf(path: string): number | undefined;
  /** Undefined if the file does not exist. */
  read(path: string): string | undefined;
  /** Creates a private directory with this prefix and an unpredictable name. */
  makeDirectory(prefix: string): string;
  /** Writes a new file atomically; keeps an existing one. */
  writeNew(path: string, text: string): void;
  /** Removes a file or an empty directory. */
  remove(path: string): void;
}

/**
 * The directory of a home's sockets; `home` is its real path. Every user can create names in /tmp. If another user has taken the usual name, an
 * unpredictable one is created and recorded in the home, and stays in use even if the usual name becomes free. The result never belongs to another
 * user; the caller checks whether it is safe to use.
 */
export function socketDirectoryOf(home: string, uid: number, files: PlaceFiles): string {
  const usual = `/tmp/holdfast-${uid}`;
  const record = `${home}/${RECORD}`;
  const isOurs = (place: string) => place.startsWith(`${usual}-`) && /^[\w/-]{1,60}$/.test(place) && files.ownerOf(place) === uid;
  const below = (parent: string) => `${parent}/${shortHash(home)}`;
  const recorded = files.read(record);
  if (recorded !== undefined && isOurs(recorded)) return below(recorded);
  if ((files.ownerOf(usual) ?? uid) === uid) return below(usual);
  // The recorded directory is gone or belongs to another user. Remove the record only if no other process has replaced it.
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

/** 64-bit FNV-1a in hex. It only names a directory and protects nothing; importing node:crypto would cost the CLI milliseconds. */
export function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, "0");
}
