import { LOST } from "../hooks/injection.ts";

/** Longest time between the two idle events that opencode sends after a failed turn. */
const AGAIN_MS = 1000;

/**
 * opencode has events for plugins instead of hooks. This plugin runs inside opencode and reports only events that change something, with the prompt
 * that began a turn and the answer that ended it. It does not report subagents, which have sessions of their own.
 *
 * An opencode that this one starts as a tool also gets the plugin, through the environment; there the plugin does nothing.
 *
 * Permission requests and questions, also of subagents, go to the inbox at the same time, through the script that other agents run as a hook. The
 * first answer wins; an answer on the screen ends the script.
 */
export const OPENCODE_PLUGIN = `import { spawn } from "node:child_process";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const signals = fileURLToPath(new URL("../signals/", import.meta.url));
const script = fileURLToPath(new URL("ask", import.meta.url));
const TOLD = /^(session\\.error|permission\\.replied|question\\.(replied|rejected))$/;
const asking = new Map();
const subagents = new Set();
const lastStatus = new Map();
const failed = new Set();
const held = new Map();
const trying = new Map();
const roles = new Map();
const texts = { user: new Map(), assistant: new Map() };
let worktree = process.cwd();
let count = 0;

function tell(payload) {
  const name = "opencode." + process.pid + "." + String(++count).padStart(9, "0");
  const named = (text, name_) => {
    writeFileSync(signals + "." + name, text);
    renameSync(signals + "." + name, signals + name_);
  };
  try {
    named(JSON.stringify(payload), name);
  } catch {
    // The screen still shows the status.
    try {
      named("", name + "${LOST}");
    } catch {
      rmSync(signals + "." + name, { force: true });
    }
  }
}

function ask(client, { type, properties }) {
  const { id } = properties;
  const hook = spawn("sh", [script], { stdio: ["pipe", "pipe", "ignore"] });
  asking.set(id, hook);
  let answer = "";
  hook.on("error", () => {});
  hook.stdout.on("data", (chunk) => (answer += chunk));
  hook.on("close", async () => {
    try {
      if (asking.delete(id) && answer !== "") await reply(client, { type, properties }, JSON.parse(answer));
    } catch {
      // opencode's own prompt stays.
    }
  });
  hook.stdin.on("error", () => {});
  hook.stdin.end(JSON.stringify({ type, properties: { ...properties, metadata: aboutWhat(properties) } }));
}

// opencode names files by their path in the worktree, and a patch in one line. For other tools it often gives only the pattern of the arguments.
function aboutWhat({ permission, patterns = [], metadata = {} }) {
  if (permission !== "read" && permission !== "edit") return Object.keys(metadata).length > 0 || patterns.length === 0 ? metadata : { patterns };
  const patched = Array.isArray(metadata.files) ? metadata.files.flatMap((file) => [file?.filePath, file?.movePath]) : [];
  const named = [...patterns, ...patched].filter((path) => typeof path === "string").map((path) => resolve(worktree, path));
  const files = [...new Set(named)];
  return { ...metadata, filepath: files.length === 1 ? files[0] : files };
}

function reply(client, { type, properties: { id, questions = [] } }, { answer, ...body }) {
  const [what, verb] = type === "permission.asked" ? ["permission", "reply"] : ["question", answer === undefined ? "reject" : "reply"];
  const said = what === "permission" ? body : answer === undefined ? undefined : { answers: questions.map(() => [answer]) };
  return client._client.post({ url: "/" + what + "/" + id + "/" + verb, body: said, headers: { "content-type": "application/json" } });
}

function hear(client, { type, properties = {} }) {
  if (type === "permission.asked" || type === "question.asked") return ask(client, { type, properties });
  const asked = asking.get(properties.requestID);
  if (asked && asking.delete(properties.requestID)) asked.kill();
  const { info, part, sessionID = info?.sessionID ?? part?.sessionID ?? info?.id } = properties;
  if (type.startsWith("session.") && info?.parentID) subagents.add(info.id);
  if (subagents.has(sessionID)) return;
  if (type === "message.updated") roles.set(info.id, info.role);
  else if (type === "message.part.updated") {
    if (/^(text|reasoning|tool)$/.test(part.type)) hearAnswer(sessionID);
    if (part.type === "text" && !part.synthetic) texts[roles.get(part.messageID)]?.set(sessionID, part.text);
  } else if (type === "session.created") tell({ type, properties: { sessionID } });
  else if (type === "session.status") hearStatus(sessionID, properties);
  else if (TOLD.test(type)) tell({ type, properties });
  if (type === "session.error") failed.add(sessionID);
}

// After a refused try, only an answer of the model shows whether the next try succeeded.
function hearAnswer(sessionID) {
  const properties = trying.get(sessionID);
  if (trying.delete(sessionID)) tell({ type: "session.status", properties });
}

// After a failed turn opencode reports idle twice, and drops a prompt that arrives in between. The second report may be missing.
function hearStatus(sessionID, properties) {
  const idle = properties.status.type === "idle";
  const before = held.get(sessionID);
  held.delete(sessionID);
  clearTimeout(before?.timer);
  if (before && !idle) tellStatus(sessionID, before.properties);
  if (!failed.delete(sessionID) || !idle) return tellStatus(sessionID, properties);
  held.set(sessionID, { properties, timer: setTimeout(() => hearStatus(sessionID, properties), ${AGAIN_MS}) });
}

function tellStatus(sessionID, properties) {
  const status = JSON.stringify(properties.status);
  if (lastStatus.get(sessionID) === status) return;
  const last = lastStatus.get(sessionID) ?? '{"type":"idle"}';
  const began = last === '{"type":"idle"}';
  lastStatus.set(sessionID, status);
  trying.delete(sessionID);
  if (properties.status.type === "busy" && JSON.parse(last).type === "retry") return void trying.set(sessionID, properties);
  const idle = properties.status.type === "idle";
  const prompt = began && !idle ? texts.user.get(sessionID) : undefined;
  tell({ type: "session.status", properties, prompt, reply: (idle && texts.assistant.get(sessionID)) || undefined });
  if (!idle) return;
  roles.clear();
  texts.assistant.delete(sessionID);
}

export const Holdfast = async (place) => {
  const own = String(process.pid);
  process.env.HOLDFAST_OPENCODE ??= own;
  if (process.env.HOLDFAST_OPENCODE !== own) return {};
  worktree = place.worktree ?? worktree;
  return { event: async ({ event }) => void hear(place.client, event) };
};
`;
