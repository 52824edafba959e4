import { beginsCommand } from "../workspace/context/context.ts";

/**
 * Follows the first prompt of an agent that remembers another directory, whose files it would otherwise keep changing. One paragraph, as it is no
 * task.
 */
export function movedNote({ from, to }: { from: string | undefined; to: string }, words: string): string | null {
  if (from === to || beginsCommand(words)) return null;
  return (
    `[This is a copy of the conversation. You now work in ${to}, with separate files. Earlier work was done ` +
    `${from === undefined ? "in another directory" : `in ${from}`}, where the original session continues: change nothing there, and read files again before you rely on what you know about them.]`
  );
}
