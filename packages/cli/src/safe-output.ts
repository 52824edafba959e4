/**
 * The one door by which commands print. Text of agents, peers and files is in nearly all of it, and a terminal obeys some of its
 * characters: C1 controls begin escape sequences, others turn the direction of text or hide it. In JSON they become `\uXXXX`, which means the
 * same to whoever parses it. In text on a terminal each becomes a replacement character. Bytes pass as they are.
 */
const UNSAFE = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

export function safeJson(text: string): string {
  return text.replace(UNSAFE, (unsafe) =>
    unsafe
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

function safeText(text: string): string {
  return text.replace(UNSAFE, "\ufffd");
}

/** From now on. `json`: all that is printed is JSON. */
export function printSafely(stream: NodeJS.WriteStream, { json }: { json: boolean }): void {
  if (!json && !stream.isTTY) return;
  const safe = json ? safeJson : safeText;
  const write = stream.write.bind(stream) as (chunk: string | Uint8Array, ...more: unknown[]) => boolean;
  stream.write = (chunk: string | Uint8Array, ...more: unknown[]) => write(typeof chunk === "string" ? safe(chunk) : chunk, ...more);
}
