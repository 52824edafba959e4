import type { Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";

test.each([
  [["down", "--grace", "1s"], "--grace needs --all"],
  [["backup", "create", "--yes"], "backup create has no flag --yes"],
  [["adopt", "--list", "--name", "x"], "--list takes no --name"],
  [["adopt", "--list", "--resume-when-ended"], "--list takes no --resume-when-ended"],
  [["export", "x", "--text", "-", "--force"], "--force has no effect on standard output"],
  [["token", "ls", "--scope", "observer"], "token ls has no flag --scope"],
  [["up", "--insecure-public"], "--listen ADDRESS"],
  [["chat", "demo", "--base", "main", "-p", "x"], "--base needs --worktree"],
])("a flag without effect is refused: %j", async (args, what) => {
  await using home = new TestHome();
  const { code, stderr } = await home.cli(args);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(what) });
});

test.each([
  [["spawn", "-i", "demo"], "holdfast chat demo"],
  [["spawn", "--interactive"], "holdfast chat"],
  [["spawn", "demo", "-i", "say it's"], `holdfast spawn --chat --attach demo 'say it'\\''s'`],
  [["spawn", "--session", "review", "demo", "--cwd", "/tmp", "-p", "say hello"], "holdfast chat --session review demo --cwd /tmp"],
  [
    ["spawn", "--session", "review", "--objective", "try the fix", "demo", "say hello"],
    "holdfast chat --session review --objective 'try the fix' demo",
  ],
  [["spawn", "-i", "--resume=review"], "holdfast chat --resume=review"],
  [["send", "--group", "team", "all hands", "--steer"], "holdfast group send team 'all hands' --steer"],
  [["send", "--group", "team", "hi", "--no-wait"], "holdfast group send team TEXT"],
  [["send", "--coordinator=team", "done", "--wait"], "holdfast group send team --coordinator done --wait"],
])("a removed flag is refused with the command to type: %j", async (args, instead) => {
  await using home = new TestHome();
  expect(await home.cli(args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/ has no flag --?\w+\n/) });
  expect((await home.cli(args)).stderr).toContain(`\n  use: ${instead}\n`);
});

test.each([
  [["token", "--scope", "observer", "create"], "holdfast token create --scope observer"],
  [["approvals", "--all", "ls"], "holdfast approvals ls --all"],
  [["restore", "--dry-run", "ls"], "holdfast restore ls --dry-run"],
])("a flag before its verb is refused with the command to type: %j", async (args, instead) => {
  await using home = new TestHome();
  expect(await home.cli(args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(`\n  use: ${instead}\n`) });
});

test("chat refuses a model that the agent does not offer, lists the offered ones, and leaves no session behind", async () => {
  await using home = new TestHome();
  const { code, stdout, stderr } = await home.cli(["chat", "demo", "--model", "NONE", "-p", "say hello"]);
  expect({ code, stdout, stderr }).toEqual({
    code: 6,
    stdout: "",
    stderr: 'holdfast: the agent has no model "NONE"; it has demo-small, demo-large\n  choose one of those, or omit --model and --mode\n',
  });
  expect(await home.json<Session[]>(["ls"])).toEqual([]);
  expect(await home.ok(["chat", "demo", "--model", "demo-large", "-p", "say hello"])).toBe("hello\n");
});

test("send to a session that its budget ended names the budget and the command that raises it", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "demo", "--chat", "--name", "talk", "--budget", "turns=1"]);
  await home.ok(["send", "talk", "say one", "--wait"]);
  await eventually(async () => (await home.json<Session>(["show", "talk"])).status === "stopped");
  expect(await home.cli(["send", "talk", "say two"])).toMatchObject({
    code: 6,
    stderr:
      "holdfast: talk has used up its budget: turn limit 1 reached (1 used)\n" +
      "  raise the limit: holdfast resume talk --budget turns=2; then send the message again\n",
  });
  await home.ok(["resume", "talk", "--budget", "turns=2"]);
  expect(await home.ok(["send", "talk", "say two", "--wait"])).toBe("two\n");
});
