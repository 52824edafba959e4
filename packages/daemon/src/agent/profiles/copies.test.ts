import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copyGeminiConversation } from "./gemini-store.ts";
import { copyOpencodeConversation, renumbered } from "./opencode-copy.ts";
import { copyQwenConversation } from "./qwen-store.ts";

const OLD = "0f8fad5b-d9cb-469f-a165-70867728950e";
const NEW = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hf-copies-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const place = () => ({ from: OLD, id: NEW, directory: "/srv/my app", env: { HOME: home }, program: ["agent"] });

function write(path: string, ...entries: (object | string)[]): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, entries.map((entry) => (typeof entry === "string" ? entry : `${JSON.stringify(entry)}\n`)).join(""));
  return file;
}

function entries(path: string): unknown[] {
  const lines = readFileSync(join(home, path), "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as unknown);
}

test("a Qwen Code conversation is copied to the store of the new directory, without a half-written line", async () => {
  const said = { uuid: "a", sessionId: OLD, cwd: "/srv/old", message: { parts: [{ text: "hello" }] } };
  const original = write(`.qwen/projects/-work-old/chats/${OLD}.jsonl`, said, '{"uuid":"b","sess');
  const before = readFileSync(original, "utf8");
  const copied = await copyQwenConversation(place());
  expect(copied.id).toBe(NEW);
  const copy = `.qwen/projects/-srv-my-app/chats/${NEW}.jsonl`;
  expect(entries(copy)).toEqual([{ ...said, sessionId: NEW, cwd: "/srv/my app" }]);
  expect(readFileSync(original, "utf8")).toBe(before);
  await copied.undo();
  expect([existsSync(join(home, copy)), existsSync(original)]).toEqual([false, true]);
});

test.each([
  [{ QWEN_HOME: "~/own" }, "own"],
  [{ QWEN_HOME: "~/own", QWEN_RUNTIME_DIR: "~/run" }, "run"],
])("Qwen Code's variables set the location of its store: %j", async (env, store) => {
  write(`${store}/projects/-work-old/chats/${OLD}.jsonl`, { uuid: "a", sessionId: OLD });
  await copyQwenConversation({ ...place(), env: { HOME: home, ...env } });
  expect(entries(`${store}/projects/-srv-my-app/chats/${NEW}.jsonl`)).toHaveLength(1);
});

test("a Gemini CLI conversation is copied into a new project, marked with the new directory", async () => {
  const first = { sessionId: OLD, projectHash: "x", startTime: "2026-01-01T00:00:00.000Z", kind: "main" };
  const said = { id: "1", type: "user", content: [{ text: "hello" }] };
  write(`.gemini/tmp/old/chats/session-2026-01-01T00-00-${OLD.slice(0, 8)}.jsonl`, first, said);
  // Another conversation whose id has the same beginning.
  write(`.gemini/tmp/other/chats/session-2026-01-02T00-00-${OLD.slice(0, 8)}.jsonl`, { sessionId: `${OLD.slice(0, 8)}-other` });
  const copied = await copyGeminiConversation(place());
  const project = `.gemini/tmp/holdfast-${NEW.slice(0, 13)}`;
  expect(readFileSync(join(home, project, ".project_root"), "utf8")).toBe("/srv/my app");
  const [file = ""] = readdirSync(join(home, project, "chats"));
  expect(file).toMatch(new RegExp(`^session-\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-${NEW.slice(0, 8)}\\.jsonl$`));
  expect(entries(join(project, "chats", file))).toEqual([{ ...first, sessionId: NEW, startTime: expect.any(String) }, said]);
  await copied.undo();
  expect(readdirSync(join(home, ".gemini/tmp")).sort()).toEqual(["old", "other"]);
});

test("in a continued Gemini CLI conversation every id becomes the copy's", async () => {
  const original = [
    { sessionId: OLD, startTime: "2026-01-01T00:00:00.000Z" },
    { id: "a", type: "user", content: "hello" },
    { sessionId: OLD, startTime: "2026-01-02T00:00:00.000Z" },
    { $set: { sessionId: OLD } },
    { $set: { lastUpdated: "2026-01-02T00:00:00.000Z" } },
  ];
  write(`.gemini/tmp/old/chats/session-2026-01-01T00-00-${OLD.slice(0, 8)}.jsonl`, ...original);
  await copyGeminiConversation(place());
  const chats = `.gemini/tmp/holdfast-${NEW.slice(0, 13)}/chats`;
  const [file] = readdirSync(join(home, chats));
  const whose = { sessionId: NEW, startTime: expect.any(String) };
  expect(entries(`${chats}/${file}`)).toEqual([whose, original[1], whose, { $set: { sessionId: NEW } }, original[4]]);
});

test("if Gemini CLI already knows the new directory, the copy goes there, and undo removes only the copy", async () => {
  write(`.gemini/tmp/old/chats/session-2026-01-01T00-00-${OLD.slice(0, 8)}.jsonl`, { sessionId: OLD });
  write(".gemini/tmp/app/.project_root", "/srv/my app\n");
  write(".gemini/tmp/app/chats/session-1.jsonl", { sessionId: "mine" });
  const copied = await copyGeminiConversation(place());
  expect(readdirSync(join(home, ".gemini/tmp/app/chats"))).toHaveLength(2);
  await copied.undo();
  expect(readdirSync(join(home, ".gemini/tmp/app/chats"))).toEqual(["session-1.jsonl"]);
});

test.each([copyQwenConversation, copyGeminiConversation])("copying a missing conversation is an error: %o", async (copy) => {
  await expect(copy(place())).rejects.toMatchObject({ code: "conversation_unknown", message: expect.stringContaining(OLD) });
  expect(readdirSync(home)).toEqual([]);
});

test("a copied opencode conversation has only new ids, in the same order", () => {
  const id = (kind: string, at: number) => `${kind}_${at.toString(16).padStart(12, "0")}abcdefghijklmn`;
  const message = (at: number, parentID?: string) => ({
    info: { id: id("msg", at), sessionID: id("ses", 1), ...(parentID ? { parentID } : {}) },
    parts: [{ id: id("prt", at + 1), messageID: id("msg", at), sessionID: id("ses", 1), text: `see ${id("msg", at)}` }],
  });
  const original = { info: { id: id("ses", 1), title: "t" }, messages: [message(2), message(4, id("msg", 2))] };
  const copy = renumbered(original) as typeof original;
  const ids = (of: typeof original) => [
    of.info.id,
    ...of.messages.flatMap(({ info, parts }) => [info.id, ...parts.map((part) => part.id)]),
  ];
  expect(new Set([...ids(copy), ...ids(original)]).size).toBe(10);
  expect(ids(copy).map((each) => each.slice(0, 16))).toEqual(ids(original).map((each) => each.slice(0, 16)));
  const [first, second] = copy.messages;
  expect(second?.info.parentID).toBe(first?.info.id);
  expect(second?.parts[0]).toMatchObject({ messageID: second?.info.id, sessionID: copy.info.id, text: `see ${id("msg", 4)}` });
});

test("a failed export of opencode reports its message and leaves nothing behind", async () => {
  const program = ["sh", "-c", "echo 'Session not found' >&2; exit 1"];
  await expect(
    copyOpencodeConversation({ ...place(), directory: home, env: { PATH: process.env.PATH ?? "" }, program }),
  ).rejects.toMatchObject({
    code: "fork_refused",
    message: "opencode export failed (1): Session not found",
  });
});
