import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { farLine } from "./far-line.ts";

const ODD = [
  "",
  "two words",
  "it's",
  '"quoted"',
  "$HOME",
  "`id`",
  "$(id)",
  "a\\nb\\",
  "line\nline\n",
  "*",
  "~",
  "!!",
  "é 日本",
  "-n",
  "--",
  "\t",
  ";&|<>(){}[]#^%",
];

const directory = mkdtempSync(path.join(tmpdir(), "hfl-"));
// Prints its arguments, each ended by a byte that none of them has.
writeFileSync(
  path.join(directory, "holdfast"),
  `#!/bin/sh\nfor each; do printf '%s\\001' "$each"; done\nprintf '%s' "$NO_COLOR/$LANG" >&2\n`,
);
chmodSync(path.join(directory, "holdfast"), 0o755);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const SHELLS = ["sh", "bash", "zsh", "fish"].filter((shell) => spawnSync("sh", ["-c", `command -v ${shell}`]).status === 0);

function run(shell: string, line: string, env: Record<string, string> = {}): string[] {
  const whole = { HOME: directory, SHELL: `/bin/${shell}`, PATH: `${directory}:${path.dirname(process.execPath)}:/usr/bin:/bin`, ...env };
  const file = execFileSync("sh", ["-c", `command -v ${shell}`], { encoding: "utf8" }).trim();
  return execFileSync(file, ["-c", line], { encoding: "utf8", env: { ...whole, SHELL: file }, stdio: ["ignore", "pipe", "ignore"] })
    .split("\x01")
    .slice(0, -1);
}

const call = { machine: "box", command: undefined, env: {}, locale: undefined, startsPrograms: false };

describe.each(SHELLS)("with %s as the login shell", (shell) => {
  test("arguments reach the remote command unchanged, and no shell expands them (SYM-17 resume)", () => {
    expect(run(shell, farLine({ ...call, args: ["send", ...ODD] }))).toEqual(["send", ...ODD]);
  });

  test("arguments of run also reach it unchanged through a login shell, which provides the user's environment (SYM-17 resume)", () => {
    expect(run(shell, farLine({ ...call, args: ["run", ...ODD], startsPrograms: true }))).toEqual(["run", ...ODD]);
  });
});

test("a command from config.toml replaces holdfast and is parsed by the shell", () => {
  expect(run("sh", farLine({ ...call, command: "env A=1 holdfast --first", args: ["a b"] }))).toEqual(["--first", "a b"]);
});

test("a remote machine without a locale gets the local one, and one with a locale keeps it", () => {
  const line = farLine({ ...call, command: 'printf "%s\\001" "$LANG"; :', args: [], locale: "C.UTF-8" });
  expect(run("sh", line)).toEqual(["C.UTF-8"]);
  expect(run("sh", line, { LANG: "de_DE.UTF-8" })).toEqual(["de_DE.UTF-8"]);
});

test("a command line that is too long is refused", () => {
  expect(() => farLine({ ...call, args: ["send", "x", "é".repeat(20_000)] })).toThrow(expect.objectContaining({ code: "usage" }));
});
