/** Length that can be read at a glance; the text is journaled with every change of a session. */
const GLANCE = 200;

/** Shortens text to one line that never ends with half a character. */
export function atAGlance(text: string): string {
  const line = text
    .slice(0, 10 * GLANCE)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > GLANCE ? `${withoutHalf(line.slice(0, GLANCE - 1))}…` : withoutHalf(line);
}

/** The first line of a prompt, at a glance. */
export function firstLineOf(prompt: string): string {
  const [first = ""] = prompt.trim().split("\n");
  return atAGlance(first);
}

function withoutHalf(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
