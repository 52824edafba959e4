/** A git on the PATH that does something of the test's own before or after the real one, at the command that the test names. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { findProgram } from "@holdfast/platform";
import type { TestHome } from "./home.ts";

/** The environment to ask with. `command`: a piece of git's arguments; what is done, is done once. */
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

/** For it: the daemon dies, as by a power cut, at that very moment. */
export function killDaemon(home: TestHome): string {
  return `kill -9 $(sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p' ${home.path}/daemon.json)`;
}
