/** As much as is read at a glance; it is written down with every change of a session. */
const GLANCE = 200;

/** In one line, and never with half a character at its end. */
export function atAGlance(text: string): string {
  const line = text
    .slice(0, 10 * GLANCE)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > GLANCE ? `${withoutHalf(line.slice(0, GLANCE - 1))}…` : withoutHalf(line);
}

function withoutHalf(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
