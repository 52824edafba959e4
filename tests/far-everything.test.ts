/** A tour of the whole command line on a remote machine: every command works there as it does locally. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { TwoMachines } from "./far.ts";
import { TestRepository } from "./repository.ts";

const ECHO = "stty -echo; while read -r line; do echo got $line; done";

/** Ordered so that each command finds what it needs. `same`: it changes nothing and prints the same remotely as locally; otherwise its exit code. */
function tour(repository: string): [what: "same" | number, ...line: string[]][] {
  return [
    [0, "up"],
    ["same", "version"],
    [0, "status"],
    [0, "doctor"],
    ["same", "agents"],
    [0, "config", "show"],
    ["same", "personas", "ls"],
    ["same", "task", "run", `${repository}/tasks.md`, "--agent", "demo", "--dry-run"],
    [0, "task", "run", `${repository}/tasks.md`, "--agent", "demo"],
    [0, "run", "--name", "sh", "--", "sh", "-c", ECHO],
    [0, "spawn", "demo", "--name", "api", "--worktree", "feature", "--cwd", repository, "--", "--fast"],
    [0, "create", "--name", "later", "--", "true"],
    [0, "start", "later"],
    ["same", "trust"],
    [0, "wait", "api", "--for", "idle"],
    [0, "send", "api", "say hello", "--wait"],
    ["same", "last", "api"],
    [0, "digest", "api"],
    [0, "show", "api"],
    [0, "ls"],
    ["same", "statusline"],
    [0, "explain", "api"],
    ["same", "messages", "api", "--json"],
    ["same", "usage"],
    // A terminal session has no transcript and nothing to cancel; the error message must be the same.
    ["same", "transcript", "api"],
    ["same", "cancel", "api"],
    [0, "keys", "sh", "x", "Enter"],
    [0, "wait", "sh", "--for", "output=got x"],
    ["same", "screen", "sh"],
    ["same", "logs", "sh"],
    ["same", "events", "--type", "session.created"],
    ["same", "approvals"],
    [0, "group", "join", "team/research", "api"],
    [0, "group", "share", "team", "port", "3000"],
    ["same", "group", "log", "team", "--json"],
    ["same", "group", "get", "team/research", "port", "--json"],
    ["same", "group", "watch", "team", "--after", "0", "--once", "--json"],
    // With empty input it serves no client.
    [0, "mcp"],
    ["same", "workspace", "ls", "--json"],
    ["same", "checkpoint", "ls", "api", "--json"],
    ["same", "context", "show", "api"],
    ["same", "compare", "--all"],
    ["same", "keep", "nothing"],
    // These commands need a terminal (far.test.ts).
    ["same", "attach", "sh"],
    ["same", "next"],
    ["same", "chat", "nobody"],
    ["same", "task", "run", "nothing.md"],
    ["same", "apply", "nothing.toml"],
    ["same", "replay", "sh"],
    [0, "export", "sh", "--text", path.join(repository, "sh.txt")],
    [0, "detach", "sh"],
    ["same", "control", "request", "sh"],
    [0, "token", "create", "--scope", "driver", "--name", "ada"],
    [0, "handover", "sh", "--to", "token:ada"],
    [0, "rename", "sh", "shell"],
    [0, "fork", "api", "--name", "copy"],
    [0, "stop", "shell", "copy"],
    [0, "resume", "shell"],
    ["same", "restore", "--dry-run"],
    [0, "stop", "shell"],
    [0, "rm", "shell"],
    [0, "prune", "--dry-run"],
    [0, "du"],
    [0, "audit"],
    [0, "boot", "status"],
    ["same", "adopt", "--list"],
    ["same", "orphans"],
    [0, "backup", "create"],
    ["same", "completion", "bash"],
    [0, "down", "--all"],
  ];
}

test("every command of the CLI works over ssh, with the same output as on the remote machine (SYM-17 resume)", async () => {
  await using machines = await TwoMachines.start();
  const { near, far } = machines;
  const { path: repository } = new TestRepository(far);
  writeFileSync(path.join(repository, "tasks.md"), "- [ ] say hello\n");
  const lines = tour(repository);
  for (const [what, ...line] of lines) {
    const told = await near.cli(["-H", "far", ...line]);
    if (what === "same") {
      // Concurrent changes, such as a turn's checkpoint or a new agent, may change the output: compare again.
      const same = async () => isDeepStrictEqual(await near.cli(["-H", "far", ...line]), await far.cli(line));
      if (!isDeepStrictEqual(told, await far.cli(line)) && !(await same())) expect(told, line.join(" ")).toEqual(await far.cli(line));
    } else expect(told.code, `${line.join(" ")}: ${told.stderr}`).toBe(what);
  }
  const names = [...(await near.ok(["--help"])).matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(40);
  // A new command must be added to this tour.
  expect(names.filter((name) => !lines.some(([, first]) => first === name))).toEqual([]);
});
