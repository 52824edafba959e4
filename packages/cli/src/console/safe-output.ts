/**
 * The only way that commands print. Nearly all output contains text of agents, peers and files, and terminals act on some characters: C1
 * controls begin escape sequences; others change the text's direction or hide it. In JSON these become `\uXXXX`, which parses to the same text.
 * On a terminal each becomes a replacement character. Bytes pass unchanged.
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

/** Makes all further output of the stream safe. `json`: the output is only JSON. */
export function printSafely(stream: NodeJS.WriteStream, { json }: { json: boolean }): void {
  if (!json && !stream.isTTY) return;
  const safe = json ? safeJson : safeText;
  const write = stream.write.bind(stream) as (chunk: string | Uint8Array, ...more: unknown[]) => boolean;
  stream.write = (chunk: string | Uint8Array, ...more: unknown[]) => write(typeof chunk === "string" ? safe(chunk) : chunk, ...more);
}
