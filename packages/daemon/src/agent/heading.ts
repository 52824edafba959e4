/**
 * What another session says is not the user's word, and says so. Its text is quoted line by line, up to an end that carries a nonce of that message:
 * its sender could not know the nonce, so that no text can end the quotation, or pass for a message of somebody else or for a note of Holdfast's. The
 * message's id is there for whoever wants to answer it. So it is with what a child is started with.
 */
import { randomBytes } from "node:crypto";
import type { Message } from "@holdfast/contract";

export interface Heading {
  /** Null: it is no message of its own, but words that a program is started with. */
  id: string | null;
  /** Unknown to the sender when it wrote the text. */
  nonce: string;
  /** The sender's name. */
  name: string;
  /** What it was sent to, where that was a group, and to what part of it. */
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

/** Whatever a reader may take for the end of a line. */
const LINE_END = /\r\n?|[\n\v\f\x85\u2028\u2029]/;

function quoted(text: string): string {
  return text
    .split(LINE_END)
    .map((line) => (line === "" ? "|" : `| ${line}`))
    .join("\n");
}

/** With whatever white space an agent makes of it, or none. */
const HEADING =
  /^\s*\[\s*Message\s*([a-z2-7]{10})\s*from\s*the\s*agent\s*session\s*"[^"]*"(\s*to\s*the\s*(?:coordinator\s*of\s*the\s*)?group\s*"[^"]*")?\s*,\s*not\s*from\s*the\s*user\s*;\s*quoted\s*up\s*to\s*"\s*end\s*([0-9a-z]+)\s*"\s*\]/;

/** The same whatever the sender was called then: it may have been renamed since. */
export function whateverItsName(text: string): string {
  return text.replace(HEADING, "[$1 from a session, $3]");
}
