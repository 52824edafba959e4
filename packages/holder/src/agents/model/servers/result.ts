/** Converts the result of a server's tool to text for a model, limited in length. */
import { MOST_BYTES } from "../tools/limits.ts";
import type { CallToolResult } from "./mcp-client.ts";

type Content = CallToolResult["content"][number];

export function textOfResult({ content, structuredContent, isError }: CallToolResult): { text: string; ok: boolean } {
  const said = content.map(textOf).filter((text) => text !== "");
  const text =
    said.length > 0
      ? said.join("\n")
      : structuredContent === undefined
        ? "[The server returned an empty result.]"
        : JSON.stringify(structuredContent);
  return { text: ends(text), ok: isError !== true };
}

function textOf(content: Content): string {
  if (content.type === "text") return content.text;
  if (content.type === "resource_link") return content.uri;
  if (content.type === "resource") return "text" in content.resource ? content.resource.text : content.resource.uri;
  return `[${content.type}, ${content.mimeType}: the agent accepts only text]`;
}

/** Cuts the middle of a long text. */
function ends(text: string): string {
  const bytes = Buffer.from(text);
  const half = MOST_BYTES / 2;
  if (bytes.length <= MOST_BYTES) return text;
  const [head, tail] = [bytes.subarray(0, half).toString(), bytes.subarray(-half).toString()];
  return `${head.replace(/\uFFFD+$/, "")}\n[${bytes.length - MOST_BYTES} bytes are omitted here.]\n${tail.replace(/^\uFFFD+/, "")}`;
}
