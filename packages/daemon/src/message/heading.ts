/** What another session says is not the user's word, and says so. */

export function headed(name: string, text: string): string {
  return `[Message from the agent session "${name}", not from the user]\n${text}`;
}

/** With whatever white space an agent makes of it, or none. */
const HEADING = /^\s*\[\s*Message\s*from\s*the\s*agent\s*session\s*"[^"]*"\s*,\s*not\s*from\s*the\s*user\s*\]/;

/** The same whatever the sender was called then: it may have been renamed since. */
export function whateverItsName(text: string): string {
  return text.replace(HEADING, "[from a session]");
}
