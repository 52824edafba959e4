import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ME, ScriptedDaemon } from "../../test/scripted-daemon.ts";
import { asMarkdown, writeNew } from "./save.ts";
import { Talk } from "./talk.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "hf-save-"));
});

afterEach(() => rmSync(directory, { recursive: true }));

test("a saved conversation has the speakers, tools, decisions, errors and ends of turns", async () => {
  const daemon = new ScriptedDaemon();
  const session = daemon.session("fix");
  daemon.write({ type: "user", message: "t", from: ME as never, text: "fix it\n", addition: null, steer: false });
  daemon.write({ type: "thought", text: "hm" });
  daemon.write({ type: "text", text: "I will **fi" });
  daemon.write({ type: "text", text: "x** it." });
  daemon.write({ type: "tool_started", call: "c", title: "Edit", kind: "edit", input: null, files: [] });
  daemon.write({ type: "tool_output", call: "c", title: "Edit a.ts", text: null, changes: [] });
  daemon.write({ type: "tool_completed", call: "c", ok: true });
  daemon.write({ type: "tool_completed", call: "unknown", ok: false });
  daemon.write({ type: "approval_answered", ask: "a", option: "1", allowed: true, by: "user:alice" as never });
  daemon.write({ type: "approval_answered", ask: "a", option: "1", allowed: false, by: null });
  daemon.write({ type: "approval_answered", ask: "a", option: null, allowed: false, by: null });
  daemon.write({ type: "error", code: "x", message: "no\nnetwork", hint: null, retry: true });
  daemon.write({ type: "turn_ended", reason: "max_tokens" });
  daemon.write({ type: "note", about: "cleared", text: "x" });
  daemon.write({ type: "note", about: "mode", text: "x" });
  daemon.write({ type: "text", text: "The end" });
  daemon.write({ type: "turn_ended", reason: "completed" });
  const text = await asMarkdown(session, new Talk(daemon.context(), session).everything());
  expect(text).toBe(`# fix

A conversation with demo, started 1970-01-01T00:00:00.000Z.

## tester

fix it

## demo

I will **fix** it.

- ✓ Edit a.ts

- ✗ a tool

- allowed by alice

- denied

> Error: no
> network

> The turn ended: max tokens.

---

The agent's memory was cleared.

The end
`);
});

test("a file is written completely, and an existing file is not overwritten", () => {
  const file = path.join(directory, "talk.md");
  expect(writeNew(file, "one")).toBe(file);
  expect(() => writeNew(file, "two")).toThrow(expect.objectContaining({ code: "file_exists" }));
  expect(readFileSync(file, "utf8")).toBe("one");
  expect(() => writeNew(path.join(directory, "not/there.md"), "x")).toThrow(expect.objectContaining({ code: "file_unusable" }));
  expect(readdirSync(directory)).toEqual(["talk.md"]);
});

test("~ means the home directory", () => {
  expect(() => writeNew("~/not/there/at/all.md", "x")).toThrow(expect.objectContaining({ code: "file_unusable" }));
});
