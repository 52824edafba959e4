import { beginsCommand } from "../workspace/context.ts";

/** Follows the first words to an agent whose memory is of another directory: it would go on changing the files there. One paragraph, as it is no task. */
export function movedNote({ from, to }: { from: string | undefined; to: string }, words: string): string | null {
  if (from === to || beginsCommand(words)) return null;
  return (
    `[This is a copy of the conversation, and you work elsewhere now: in ${to}, with files of its own. What was done before was done ` +
    `${from === undefined ? "in another directory" : `in ${from}`}, where the original goes on: change nothing there, and read files again before you rely on what you know of them.]`
  );
}
