import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfiguration } from "./configuration.ts";
import { USER_KEYS } from "./configuration-schema.ts";
import { lineOf, unknownKeys } from "./unknown-keys.ts";

function reading(text: string | undefined, where: "XDG_CONFIG_HOME" | "HOME" = "XDG_CONFIG_HOME") {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const base = join(directory.path, where === "HOME" ? ".config" : "", "holdfast");
  mkdirSync(base, { recursive: true });
  if (text !== undefined) writeFileSync(join(base, "config.toml"), text);
  return readConfiguration({ [where]: directory.path });
}

test("without a file or known keys the defaults apply", () => {
  expect(reading(undefined).detachKey).toBe("C-\\");
  expect(reading("").detachKey).toBe("C-\\");
  expect(reading('unknown_key = "of a later version"').detachKey).toBe("C-\\");
});

test.each(["HOME", "XDG_CONFIG_HOME"] as const)("the file below %s is read", (where) => {
  expect(reading('detach_key = "F12"', where).detachKey).toBe("F12");
});

test.each(["C-a", "M-d", "C-]", "F1", "F12"])("%s is accepted as detach key", (key) => {
  expect(reading(`detach_key = ${JSON.stringify(key)}`).detachKey).toBe(key);
});

test.each(['"a"', '""', '"C-"', '"C-ab"', '"F13"', '"F0"', `"C-'"`, '"C-a; kill-server"', '"C-\\n"', "5", "true", "[]", '"Enter"'])(
  "detach_key = %s is refused, with the file's name",
  (value) => {
    expect(() => reading(`detach_key = ${value}`)).toThrow(
      expect.objectContaining({ code: "usage", message: expect.stringContaining("config.toml") }),
    );
  },
);

test("a file that is not TOML is refused, with its name, line and column", () => {
  expect(() => reading('detach_key = "F12"\nrecording_limit = ?')).toThrow(
    expect.objectContaining({
      code: "usage",
      message: expect.stringMatching(/config\.toml is not valid TOML, line 2, column 19: \w/),
      hint: expect.stringContaining("correct it"),
    }),
  );
});

test("unknown keys are reported with their line and a suggestion; known keys are not reported", () => {
  const text = `detach_key = "F12"
recordng_limit = "64M"
prune.agee = "3d"
later = 1
[agents.mine]
command = ["x"]
promt = ["y"]
[[agents.mine.screen]]
line = "x"
trun = "idle"
"turn" = "idle"
[notifications]
x = 1
`;
  expect(reading(text).unknown).toEqual([
    { key: "recordng_limit", line: 2, meant: "recording_limit" },
    { key: "prune.agee", line: 3, meant: "age" },
    { key: "later", line: 4, meant: null },
    { key: "agents.mine.promt", line: 7, meant: "prompt" },
    { key: "agents.mine.screen.trun", line: 10, meant: "turn" },
    { key: "notifications", line: 12, meant: null },
  ]);
  const known = `detach_key = "F12"\nrecording_limit = "64M"\n[prune]\nage = "1d"\nsize = "1G"\nevery = "1h"\n[agents.x]\ncommand = ["x"]\nprompt = ["x"]
resume = ["x"]\nsession_id = ["x"]\ndescription = "x"\nversion = ["x"]\ninterrupt = ["x"]\n[[agents.x.screen]]\nname = "x"\ntitle = "x"\nline = "x"\nwithout = "x"\nturn = "idle"\nwaits = "approval"\n`;
  expect(reading(known).unknown).toEqual([]);
});

const MB = 2 ** 20;
const DAY = 86_400_000;

test("recordings are kept to 64 MB, ended sessions for 30 days and to 10 GB, unless the file says otherwise", () => {
  expect(reading("")).toMatchObject({ recordingLimit: 64 * MB, prune: { ageMs: 30 * DAY, bytes: 10 * 1024 * MB, everyMs: 3_600_000 } });
  const text = 'recording_limit = "1G"\n[prune]\nage = "7d"\nsize = "500M"\nevery = "10m"\n';
  expect(reading(text)).toMatchObject({ recordingLimit: 1024 * MB, prune: { ageMs: 7 * DAY, bytes: 500 * MB, everyMs: 600_000 } });
  expect(reading('[prune]\nage = "7d"\n').prune).toMatchObject({ ageMs: 7 * DAY, bytes: 10 * 1024 * MB });
  expect(reading('recording_limit = "off"\n[prune]\nage = "off"\nsize = "off"\n')).toMatchObject({
    recordingLimit: 0,
    prune: { ageMs: null, bytes: null },
  });
});

test.each([
  ["recording_limit", 'recording_limit = "1M"'],
  ["recording_limit", "recording_limit = 64"],
  ["prune is not a table", 'prune = "30d"'],
  ["prune.age", '[prune]\nage = "old"'],
  ["prune.age", "[prune]\nage = 30"],
  ["prune.size", '[prune]\nsize = "10"'],
  ["prune.every", '[prune]\nevery = "1ms"'],
  ["prune.every", '[prune]\nevery = "off"'],
])("%s is refused with the file's name: %s", (what, text) => {
  const error = expect.objectContaining({
    code: "usage",
    message: expect.stringMatching(`config.toml, line ${text.split("\n").length}: ${what}`),
    hint: expect.any(String),
  });
  expect(() => reading(text)).toThrow(error);
});

test("the line of a key is found in time, whatever the lines above it are", () => {
  const text = `x = """\n${"a.".repeat(50)}a!\n[${" ".repeat(50_000)}!\n"""\n[ prune ]\n"age" = "7d"\n`;
  expect(lineOf(text, "prune.age")).toBe(6);
});

test("a key that every object has is unknown too", () => {
  expect(unknownKeys({ constructor: 1, prune: { toString: 1 } }, USER_KEYS, "").map(({ key }) => key)).toEqual([
    "constructor",
    "prune.toString",
  ]);
});
