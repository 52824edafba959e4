/** What became of what was typed, in words. A terminal holds this much for a program that does not read. */
import { plain } from "./plain.ts";
import { formatBytes } from "./table.ts";

const HELD_BY_TERMINAL = 4096;

/** `done`: `5 bytes typed into demo`. `waiting` is null where the host does not know. */
export function typedLines({ done, name, bytes, waiting }: { done: string; name: string; bytes: number; waiting: number | null }): string {
  if (waiting === null && bytes > HELD_BY_TERMINAL)
    return `${formatBytes(bytes)} given to tmux, which types them as fast as ${plain(name)} reads\n`;
  if (!waiting) return `${done}\n`;
  const what = `${formatBytes(waiting)} of what was typed wait: ${plain(name)} is not reading now, and gets them when it does`;
  return `${what}\n  what it does: holdfast screen ${plain(name)}; to give up on it: holdfast stop ${plain(name)}\n`;
}
