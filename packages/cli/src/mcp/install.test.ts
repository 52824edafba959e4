import { mkdtempDisposableSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "smol-toml";
import { expect, test } from "vitest";
import { PLACES, type Place } from "./entries.ts";
import { textOf, write } from "./install.ts";

const SERVER = { command: "/usr/bin/holdfast", args: ["mcp"], env: { HOLDFAST_HOME: "/h" } };

test.each(Object.entries(PLACES))("%s: a new file contains the printed text, and a second install changes nothing", (_, place) => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-install-"));
  const file = join(directory.path, "sub", "file");
  expect(write(place, { file, server: SERVER, force: false })).toBe("written");
  const read = (text: string) => (place.format === "toml" ? parse(text) : JSON.parse(text));
  const text = readFileSync(file, "utf8");
  expect(read(text)).toEqual(read(textOf(place, SERVER)));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(write(place, { file, server: SERVER, force: false })).toBe("there already");
  expect(readFileSync(file, "utf8")).toBe(text);
});

test("another server of the same name is replaced only with --force, and nothing else changes", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-install-"));
  const file = join(directory.path, "settings.json");
  const gemini = PLACES.gemini as Place;
  writeFileSync(file, '{\n\t"a": [1],\n\t"mcpServers": { "holdfast": { "command": "mine" } }\n}\n', { mode: 0o644 });
  expect(() => write(gemini, { file, server: SERVER, force: false })).toThrow("already has another server named holdfast");
  expect(write(gemini, { file, server: SERVER, force: true })).toBe("replaced");
  expect(readFileSync(file, "utf8")).toMatch(/^\{\n\t"a": \[/);
  expect(statSync(file).mode & 0o777).toBe(0o644);
});

test.each([
  ["gemini", "[]"],
  ["gemini", '{ "mcpServers": 3 }'],
  ["gemini", "{ // a comment\n}"],
  ["codex", "not toml"],
])("%s: the unreadable file %j is not changed", (agent, text) => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-install-"));
  const file = join(directory.path, "file");
  writeFileSync(file, text);
  expect(() => write(PLACES[agent] as Place, { file, server: SERVER, force: true })).toThrow("was not changed");
  expect(readFileSync(file, "utf8")).toBe(text);
});
