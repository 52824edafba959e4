import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { TestHome } from "./home.ts";

/** Starts a turn at once, until the test has seen it; refuses to resume, like an agent that kept no conversation. */
const FORGETFUL = `case "$*" in *--resume*) echo "no such conversation"; exit 1 ;; esac
echo "esc to cancel"
until [ -e "$HOME/seen-$HOLDFAST_RUN" ]; do sleep 0.02; done
printf '\\\\033[2J\\\\033[Hready>'
exec sleep 1000`;

test("an agent that refuses to resume its conversation starts a new one instead of failing repeatedly", async () => {
  await using home = new TestHome();
  const configuration = path.join(home.root, "configuration");
  home.env.XDG_CONFIG_HOME = configuration;
  mkdirSync(path.join(configuration, "holdfast"), { recursive: true });
  const profile = `[agents.forgetful]
command = ["sh", "-c", """${FORGETFUL}""", "forgetful"]
session_id = ["--session-id", "{id}"]
resume = ["--resume", "{id}"]
[[agents.forgetful.screen]]
line = "esc to cancel"
turn = "working"
[[agents.forgetful.screen]]
line = "^ready>"
turn = "idle"
`;
  writeFileSync(path.join(configuration, "holdfast/config.toml"), profile);
  const { id } = await home.json<Session>(["spawn", "forgetful", "--name", "f", "--restart", "on-failure"]);
  const see = async (run: number) => {
    await home.until("f", ({ status, runs }) => status === "working" && runs === run);
    writeFileSync(path.join(home.env.HOME ?? "", `seen-${id}-${run}`), "");
  };
  await see(1);
  const first = await home.until("f", ({ status, turns }) => status === "idle" && turns === 1);
  process.kill(first.pid ?? 0, "SIGKILL");
  await see(3);
  const third = await home.until("f", ({ status, runs, turns }) => status === "idle" && runs === 3 && turns === 2);
  expect(third.conversation).not.toBe(first.conversation);
});
