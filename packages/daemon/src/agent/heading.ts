/** What another session says is not the user's word, and says so; its id is there for whoever wants to answer it. So it is with what a child is started with. */
import type { Message } from "@holdfast/contract";

export interface Heading {
  /** Null: it is no message of its own, but words that a program is started with. */
  id: string | null;
  /** The sender's name. */
  name: string;
  /** What it was sent to, where that was a group, and to what part of it. */
  group?: string | null;
  role?: Message["role"];
}

export function headed({ id, name, group = null, role = null }: Heading, text: string): string {
  const to = group === null ? "" : ` to the ${role === "coordinator" ? "coordinator of the " : ""}group "${group}"`;
  return `[Message${id === null ? "" : ` ${id}`} from the agent session "${name}"${to}, not from the user]\n${text}`;
}

/** With whatever white space an agent makes of it, or none. */
const HEADING =
  /^\s*\[\s*Message\s*([a-z2-7]{10})\s*from\s*the\s*agent\s*session\s*"[^"]*"(\s*to\s*the\s*(?:coordinator\s*of\s*the\s*)?group\s*"[^"]*")?\s*,\s*not\s*from\s*the\s*user\s*\]/;

/** The same whatever the sender was called then: it may have been renamed since. */
export function whateverItsName(text: string): string {
  return text.replace(HEADING, "[$1 from a session]");
}
