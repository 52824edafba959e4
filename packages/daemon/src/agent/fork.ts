/**
 * How an agent continues a copy of a conversation. Some agents copy it themselves at a start with certain arguments. For others Holdfast makes the
 * copy beforehand, in the agent's own store and under a new id. Existing data is only read.
 */
import { HoldfastError } from "@holdfast/contract";
import { isMissing, readOrdinaryFile } from "@holdfast/platform";

export type Fork =
  /** Arguments for the agent: it copies `{from}`, to `{id}` if it takes one, and continues in `{directory}`. */
  | { words: readonly string[] }
  /** Copies `from` and returns the copy's id. */
  | { copy(place: CopyPlace): Promise<Copied> };

export interface CopyPlace {
  from: string;
  /** A new UUID, for agents that use UUIDs. */
  id: string;
  /** The copy's working directory; a real path. */
  directory: string;
  env: Readonly<Record<string, string>>;
  /** The words that start the agent. */
  program: readonly string[];
}

export interface Copied {
  id: string;
  /** Removes the unused copy. */
  undo(): Promise<void>;
}

/** The changed lines of a transcript with one JSON entry per line. Omits a half-written line, as of a working agent. */
export function copiedLines(file: string, change: (entry: Record<string, unknown>, index: number) => Record<string, unknown>): string {
  const entries: Record<string, unknown>[] = [];
  for (const line of readTranscript(file).split("\n")) {
    try {
      const entry = JSON.parse(line) as unknown;
      if (typeof entry === "object" && entry !== null) entries.push(entry as Record<string, unknown>);
    } catch {
      // Empty or incomplete.
    }
  }
  return entries.map((entry, index) => `${JSON.stringify(change(entry, index))}\n`).join("");
}

/** The file of a conversation. Throws if there is none. */
export function oneTranscript(found: readonly string[], { agent, id, where }: { agent: string; id: string; where: string }): string {
  const [file] = found;
  if (file !== undefined) return file;
  throw new HoldfastError("conversation_unknown", `${agent} has no file of the conversation ${id} below ${where}`, {
    hint: "it was deleted, or is stored elsewhere; nothing was started",
  });
}

/** Bytes of a conversation that can be copied: the copy is made in memory. */
const LONGEST = 256 << 20;

function readTranscript(file: string): string {
  try {
    return readOrdinaryFile(file, LONGEST);
  } catch (cause) {
    throw new HoldfastError("conversation_unknown", `the conversation's file ${file} ${isMissing(cause) ? "is gone" : "cannot be read"}`, {
      hint: "nothing was started",
      cause,
    });
  }
}
