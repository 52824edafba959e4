/**
 * npm run dev: a daemon and a demo session in a throw-away home. Saving a source rebuilds and restarts the daemon; sessions keep running.
 * Ctrl+C stops everything and removes the home.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureDemo } from "./demo.mjs";
import { endAll, holdfast, typed } from "./holdfast.mjs";
import { root, say } from "./root.mjs";
import { ensureBuilt } from "./setup.mjs";

/** Editors save in several steps; with a shorter wait one save would build twice. */
const SETTLE_MS = 100;

const ending = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => ending.abort());

try {
  await ensureBuilt();
  await live(fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-dev-")));
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}

async function live(home) {
  try {
    holdfast(["up"], { home, stdout: "inherit" });
    say(ensureDemo({ home }).what);
    say(`in another terminal: HOLDFAST_HOME=${home} ${typed()} ls`);
    say("watching packages/ and agents/; Ctrl+C ends and removes everything");
    await watch(() => restart(home));
  } finally {
    say("stopping everything");
    endAll(home);
    fs.rmSync(home, { recursive: true });
  }
}

async function watch(onChange) {
  let wake;
  let changed = false;
  const note = () => {
    changed = true;
    wake?.();
  };
  const watchers = ["packages", "agents"].map((folder) => fs.watch(path.join(root, folder), { recursive: true }, note));
  ending.signal.addEventListener("abort", note);
  while (!ending.signal.aborted) {
    if (!changed) {
      await new Promise((resolve) => {
        wake = resolve;
      });
    }
    await sleep(SETTLE_MS);
    changed = false;
    if (!ending.signal.aborted) await onChange();
  }
  for (const watcher of watchers) watcher.close();
}

async function restart(home) {
  try {
    if (!(await ensureBuilt())) return;
    holdfast(["down"], { home });
    holdfast(["up"], { home, stdout: "inherit" });
    say("rebuilt, daemon restarted");
  } catch (error) {
    say(`${error.message.split("\n")[0]}; waiting for the next change`);
  }
}
