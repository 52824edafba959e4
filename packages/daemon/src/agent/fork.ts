/**
 * How an agent carries on a copy of a conversation. Some do it themselves when they are started so; of others the copy is made beforehand, in the
 * agent's own store and under a new id. What is there already is only read.
 */
import { readFileSync } from "node:fs";
import { HoldfastError } from "@holdfast/contract";
import { isMissing } from "@holdfast/platform";

export type Fork =
  /** Its own arguments: `{from}` is copied, to `{id}` where it takes one, to be gone on with in `{directory}`. */
  | { words: readonly string[] }
  /** A copy of `from`, of which the answer is the id. */
  | { copy(place: CopyPlace): Promise<Copied> };

export interface CopyPlace {
  from: string;
  /** A new UUID, for agents that use such. */
  id: string;
  /** Where the copy is gone on with; a real path. */
  directory: string;
  env: Readonly<Record<string, string>>;
  /** The words that start the agent. */
  program: readonly string[];
}

export interface Copied {
  id: string;
  /** Takes the copy away again: nobody used it. */
  undo(): Promise<void>;
}

/** Of a transcript with a line of JSON for each entry: those lines, changed. One that is half written, as it is while the agent works, is left out. */
export function copiedLines(file: string, change: (entry: Record<string, unknown>, index: number) => Record<string, unknown>): string {
  const entries: Record<string, unknown>[] = [];
  for (const line of readTranscript(file).split("\n")) {
    try {
      const entry = JSON.parse(line) as unknown;
      if (typeof entry === "object" && entry !== null) entries.push(entry as Record<string, unknown>);
    } catch {
      // Empty, or not written to its end yet.
    }
  }
  return entries.map((entry, index) => `${JSON.stringify(change(entry, index))}\n`).join("");
}

/** The one file of a conversation; throws where it is not there. */
export function oneTranscript(found: readonly string[], { agent, id, where }: { agent: string; id: string; where: string }): string {
  const [file] = found;
  if (file !== undefined) return file;
  throw new HoldfastError("conversation_unknown", `${agent} has no file of the conversation ${id} below ${where}`, {
    hint: "it was deleted, or is stored elsewhere; nothing was started",
  });
}

function readTranscript(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new HoldfastError("conversation_unknown", `the conversation's file ${file} ${isMissing(cause) ? "is gone" : "cannot be read"}`, {
      hint: "nothing was started",
      cause,
    });
  }
}
