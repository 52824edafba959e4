/**
 * Marks a message from another session as not from the user. Its text is quoted line by line, up to an end line with a nonce of the message. The
 * sender cannot know the nonce, so no text can end the quotation or pass for another sender's message or a note of Holdfast. The message's id lets
 * the recipient answer it. The first prompt of a child has the same form.
 */
import { randomBytes } from "node:crypto";
import type { Message } from "@holdfast/contract";

export interface Heading {
  /** Null for a first prompt, which is not a message. */
  id: string | null;
  /** Unknown to the sender when it wrote the text. */
  nonce: string;
  /** The sender's name. */
  name: string;
  /** The group that the message was sent to, if any, and the role in it. */
  group?: string | null;
  role?: Message["role"];
}

export function headed({ id, nonce, name, group = null, role = null }: Heading, text: string): string {
  const to = group === null ? "" : ` to the ${role === "coordinator" ? "coordinator of the " : ""}group "${group}"`;
  const which = id === null ? "" : ` ${id}`;
  return `[Message${which} from the agent session "${name}"${to}, not from the user; quoted up to "end ${nonce}"]\n${quoted(text)}\n[end ${nonce}]`;
}

export function newNonce(): string {
  return randomBytes(4).toString("hex");
}

/** All characters that a reader may take for the end of a line. */
const LINE_END = /\r\n?|[\n\v\f\x85\u2028\u2029]/;

function quoted(text: string): string {
  return text
    .split(LINE_END)
    .map((line) => (line === "" ? "|" : `| ${line}`))
    .join("\n");
}

/** Accepts any white space, since agents change it. */
const HEADING =
  /^\s*\[\s*Message\s*([a-z2-7]{10})\s*from\s*the\s*agent\s*session\s*"[^"]*"(\s*to\s*the\s*(?:coordinator\s*of\s*the\s*)?group\s*"[^"]*")?\s*,\s*not\s*from\s*the\s*user\s*;\s*quoted\s*up\s*to\s*"\s*end\s*([0-9a-z]+)\s*"\s*\]/;

/** Removes the sender's name from the heading: the sender may have been renamed since. */
export function whateverItsName(text: string): string {
  return text.replace(HEADING, "[$1 from a session, $3]");
}
