import { expect, test } from "vitest";
import { isInteractiveShell } from "./interactive-shell.ts";

test.each([
  [["/bin/bash"]],
  [["zsh", "-l"]],
  [["/usr/bin/fish", "-il"]],
  [["sh", "-i"]],
  [["bash", "--login"]],
  [["bash", "--norc"]],
  [["bash", "--rcfile", "x", "-i"]],
  [["zsh", "-f"]],
  [["bash", "-o", "vi"]],
])("%j waits at a prompt", (command) => {
  expect(isInteractiveShell(command)).toBe(true);
});

test.each([
  [["sh", "-c", "make"]],
  [["bash", "build.sh"]],
  [["make"]],
  [["node"]],
  [["bash", "-ic", "make"]],
  [["bash", "--norc", "build.sh"]],
  [["fish", "--command", "make"]],
  [[]],
])("%j does not wait at a prompt", (command) => {
  expect(isInteractiveShell(command)).toBe(false);
});
