/** Output of the real agents for `say I look`, `tool shell echo hi-there`, `say done` with the scripted model: versions of tests/real/versions.json. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Piece } from "./piece.ts";
import { streamJsonReader } from "./stream-json.ts";

/** Reads the recording in pieces of the given size, as a pipe would deliver it. */
function read(agent: string, size: number): Piece[] {
  const bytes = readFileSync(join(import.meta.dirname, "fixtures", `${agent}.jsonl`));
  const reader = streamJsonReader();
  const pieces: Piece[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(...reader.push(bytes.subarray(at, at + size)));
  const { pieces: last, isForeign } = reader.end();
  expect(isForeign).toBe(false);
  return [...pieces, ...last];
}

test.each([
  ["claude", { model: "claude-opus-5-5", input: 7812, output: 12, cacheRead: 0, cacheWrite: 0, cost: 0.031488 }],
  ["qwen", { model: "scripted", input: 13507, output: 41 }],
  ["gemini", { model: "gemini-2.5-pro", input: 11791, output: 31, cacheRead: 0 }],
])("the output of %s becomes text, a tool call with its result, and usage, each once", (agent, used) => {
  const pieces = read(agent, 1000);
  expect(read(agent, 7)).toEqual(pieces);
  const text = pieces.map((piece) => (piece.kind === "text" ? piece.text : piece.kind === "tool" ? "|" : "")).join("");
  expect(text).toMatch(/^I look\|The tool answered: [\s\S]*hi-there[\s\S]*\ndone$/);
  const [tool] = pieces.filter((piece) => piece.kind === "tool");
  expect(tool).toMatchObject({ name: expect.stringMatching(/^(Bash|run_shell_command)$/), input: { command: "echo hi-there" } });
  expect(pieces.filter((piece) => piece.kind === "tool_ended")).toMatchObject([{ id: tool?.id, output: "hi-there", ok: true }]);
  expect(pieces.filter((piece) => piece.kind === "failed")).toEqual([]);
  const usage = Object.assign({}, ...pieces.map((piece) => (piece.kind === "usage" ? piece.usage : {})));
  expect(usage).toMatchObject(used);
});
