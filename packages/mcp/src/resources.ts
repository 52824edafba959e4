/** Resources: `holdfast://sessions/NAME/transcript`, `…/output` and `…/context`. */

import { describeAsk } from "@holdfast/contract/approval/described";
import type { Entry } from "@holdfast/contract/conversation/transcript";
import { HoldfastError } from "@holdfast/contract/errors";
import type { HoldfastClient } from "@holdfast/sdk/client";
import { plainText } from "./lines.ts";

const WHAT = {
  transcript: "transcript of a conversation, the last 20 turns",
  output: "output of a shell or a terminal agent, the last 100 KB",
  context: "Working Context of a session's directory",
} as const;
type What = keyof typeof WHAT;

const LAST_BYTES = 100_000;

export const TEMPLATES = (Object.keys(WHAT) as What[]).map((what) => ({
  uriTemplate: `holdfast://sessions/{name}/${what}`,
  name: what,
  description: WHAT[what],
  mimeType: "text/plain",
}));

/** Resources of running sessions. Those of ended sessions can be read at the same addresses. */
export async function listResources(client: HoldfastClient) {
  const { sessions } = await client.call("listSessions", {});
  return sessions.flatMap(({ name, kind }) =>
    (kind === "conversation" ? (["transcript", "context"] as const) : (["output", "context"] as const)).map((what) => ({
      uri: `holdfast://sessions/${encodeURIComponent(name)}/${what}`,
      name: `${what} of ${name}`,
      description: WHAT[what],
      mimeType: "text/plain",
    })),
  );
}

export async function readResource(client: HoldfastClient, uri: string): Promise<string> {
  const [, name = "", what = ""] = /^holdfast:\/\/sessions\/([^/]+)\/(\w+)$/.exec(uri) ?? [];
  const ref = decode(name);
  if (what === "transcript") return transcriptOf(client, ref);
  if (what === "output") return outputOf(client, ref);
  if (what === "context") return contextOf(client, ref);
  throw new HoldfastError("usage", `there is no resource ${uri}`, {
    hint: `resources: ${TEMPLATES.map(({ uriTemplate }) => uriTemplate).join(", ")}`,
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function transcriptOf(client: HoldfastClient, ref: string): Promise<string> {
  const { entries } = await client.call("readTranscript", { params: { ref }, query: { turns: 20 } });
  let text = "";
  let last = "";
  for (const { entry } of entries) {
    const words = inWords(entry);
    if (words === undefined) continue;
    // Consecutive chunks belong to one text.
    text += entry.type === "text" && last === "text" ? words : `${text === "" ? "" : "\n"}${words}`;
    last = entry.type;
  }
  return text;
}

function inWords(entry: Entry): string | undefined {
  switch (entry.type) {
    case "user":
      return `\n> ${entry.from}: ${entry.text.replaceAll("\n", "\n> ")}`;
    case "text":
      return entry.text;
    case "tool_started":
      return `[${entry.kind}: ${entry.title}]`;
    case "tool_completed":
      return entry.ok ? undefined : "[failed]";
    case "approval_asked":
      return `[permission request: ${describeAsk(entry)}]`;
    case "approval_answered":
      return `[${entry.allowed ? "allowed" : "denied"}${entry.by === null ? "" : ` by ${entry.by}`}]`;
    case "error":
      return `[${entry.message}]`;
    case "turn_ended":
      return entry.reason === "completed" ? undefined : `[turn ended: ${entry.reason}]`;
    default:
      return undefined;
  }
}

async function outputOf(client: HoldfastClient, ref: string): Promise<string> {
  const { session, bytes, begins } = await client.call("getRecording", { params: { ref } });
  const chunks: Uint8Array[] = [];
  for await (const chunk of await client.bytes({ params: { ref: session }, query: { from: Math.max(begins, bytes - LAST_BYTES) } })) {
    chunks.push(chunk);
  }
  return plainText(new TextDecoder().decode(Buffer.concat(chunks)));
}

async function contextOf(client: HoldfastClient, ref: string): Promise<string> {
  const { files } = await client.call("getContext", { query: { of: ref } });
  return files
    .filter(({ state }) => state === "written")
    .map(({ name, text }) => `# ${name}\n\n${text.trim()}\n`)
    .join("\n");
}
