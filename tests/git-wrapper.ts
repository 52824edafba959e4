/** A git on the PATH that runs a script of the test before or after the real git, at the command that the test names. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { findProgram } from "@holdfast/platform";
import type { TestHome } from "./home.ts";

/** The environment for the request. `command` is a part of git's arguments; the script runs once. */
export function wrappedGit(
  home: TestHome,
  { command, before = "", after = "" }: { command: string; before?: string; after?: string },
): Record<string, string> {
  const directory = path.join(home.root, "wrapped");
  mkdirSync(directory, { recursive: true });
  const real = findProgram("git", home.env.PATH, "/");
  const once = path.join(directory, "once");
  writeFileSync(once, "");
  const lines = [
    "#!/bin/sh",
    `case "$*" in *${JSON.stringify(command)}*) if rm ${once} 2>/dev/null; then`,
    `${before || ":"}`,
    `${real} "$@"; code=$?`,
    `${after || ":"}`,
    "exit $code; fi;; esac",
    `exec ${real} "$@"`,
  ];
  writeFileSync(path.join(directory, "git"), `${lines.join("\n")}\n`);
  chmodSync(path.join(directory, "git"), 0o755);
  return { PATH: `${directory}:${home.env.PATH}` };
}

/** A script for the wrapper: kills the daemon at that moment, as a power cut would. */
export function killDaemon(home: TestHome): string {
  return `kill -9 $(sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p' ${home.path}/daemon.json)`;
}
