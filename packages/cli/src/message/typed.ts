/** The result of typing, as text. A terminal buffers this much for a program that does not read. */

import { formatBytes } from "../text/bytes.ts";
import { plain } from "../text/plain.ts";

const HELD_BY_TERMINAL = 4096;

/** `done`: `5 bytes typed into demo`. `waiting` is null if the host does not know. */
export function typedLines({ done, name, bytes, waiting }: { done: string; name: string; bytes: number; waiting: number | null }): string {
  if (waiting === null && bytes > HELD_BY_TERMINAL)
    return `${formatBytes(bytes)} passed to tmux, which types them as fast as ${plain(name)} reads\n`;
  if (!waiting) return `${done}\n`;
  const what = `${formatBytes(waiting)} of input are waiting: ${plain(name)} is not reading now`;
  return `${what}\n  show its screen: holdfast screen ${plain(name)}; stop it: holdfast stop ${plain(name)}\n`;
}
