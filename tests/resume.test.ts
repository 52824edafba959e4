import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";

const HOSTS = ["tmux", "native"] as const;

/** A demo agent after one turn. */
async function told(home: TestHome, name: string, word: string, ...flags: string[]): Promise<Session> {
  await home.ok(["spawn", "demo", "--name", name, "--prompt", word, ...flags, "--", "--fast"]);
  return home.until(name, ({ status, turns }) => status === "idle" && turns === 1);
}

test.each(HOSTS)("after a stop, resume starts the next run with the same conversation, on %s (SYM-06 resume)", async (host) => {
  await using home = new TestHome();
  const before = await told(home, "api", "remember the tides", "--host", host, "--role", "tester");
  await home.ok(["stop", "api"]);
  const resumed = await home.json<Session & { resumed: string }>(["resume", "api"]);
  expect(resumed).toMatchObject({ id: before.id, runs: 2, conversation: before.conversation, resumed: "conversation", role: "tester" });
  await home.until("api", ({ status }) => status === "idle");
  expect(await home.ok(["screen", "api"])).toContain("remember the tides");
  const answer = await home.json<{ reply: string }>(["send", "api", "and the moon", "--wait"]);
  expect(answer.reply).toContain("Turn 2:");
  expect((await home.session("api")).turns).toBe(2);
  expect((await home.cli(["resume", "api"])).code).toBe(6);
});

test("after a kill of agent, daemon and keeper the conversation continues from disk alone (SYM-06 resume)", async () => {
  await using home = new TestHome();
  const before = await told(home, "api", "remember the tides", "--host", "native");
  await home.killDaemon();
  for (const { pid } of home.processes()) process.kill(pid, "SIGKILL");
  await eventually(() => home.processes().length === 0);
  expect(await home.session("api")).toMatchObject({ status: "lost" });
  await home.ok(["resume", "api"]);
  const after = await home.until("api", ({ status }) => status === "idle");
  expect(after).toMatchObject({ conversation: before.conversation, runs: 2 });
  expect(await home.ok(["screen", "api"])).toContain("remember the tides");
});

test.each(HOSTS)("a crashed agent resumes its conversation, even in the middle of a turn, on %s (SYM-06 resume)", async (host) => {
  await using home = new TestHome();
  const before = await told(home, "api", "remember the tides", "--host", host);
  await home.ok(["send", "api", "talk 60s"]);
  const { pid } = await home.until("api", ({ status, turns }) => status === "working" && turns === 2);
  process.kill(pid ?? 0, "SIGKILL");
  expect(await home.ended("api")).toMatchObject({ status: "failed", exit: { signal: "SIGKILL" } });
  expect(await home.ok(["resume", "api"])).toContain(`continues its conversation ${before.conversation}`);
  await home.until("api", ({ status }) => status === "idle");
  const screen = await home.ok(["screen", "api"]);
  expect([screen.includes("remember the tides"), screen.includes("talk 60s")]).toEqual([true, true]);
});

test("two sessions of one agent in one directory have two conversations, each under its name (SYM-08 resume)", async () => {
  await using home = new TestHome();
  await told(home, "sun", "speak of the sun");
  await told(home, "sea", "speak of the sea");
  await home.ok(["stop", "sun", "sea"]);
  await home.ok(["resume", "sea"]);
  await home.ok(["resume", "sun"]);
  for (const [name, other] of [
    ["sun", "sea"],
    ["sea", "sun"],
  ] as const) {
    await home.until(name, ({ status }) => status === "idle");
    const screen = await home.ok(["screen", name]);
    expect([screen.includes(`speak of the ${name}`), screen.includes(`speak of the ${other}`)]).toEqual([true, false]);
  }
});

test("--fresh starts a new conversation and says so; the old one is kept and can be resumed", async () => {
  await using home = new TestHome();
  const before = await told(home, "api", "remember the tides");
  await home.ok(["stop", "api"]);
  expect(await home.ok(["resume", "api", "--fresh"])).toContain("started a new conversation");
  const fresh = await home.until("api", ({ status }) => status === "idle");
  expect(fresh.conversation).not.toBe(before.conversation);
  expect(await home.ok(["screen", "api"])).not.toContain("tides");
  expect(fresh.conversations.map(({ id }) => id)).toEqual([before.conversation, fresh.conversation]);
  expect(await home.ok(["show", "api"])).toContain(`${before.conversation} (run 1, 1 turn)`);
  await home.ok(["stop", "api"]);
  await home.ok(["resume", "api", "--conversation", before.conversation?.slice(0, 8) ?? ""]);
  expect(await home.until("api", ({ status }) => status === "idle")).toMatchObject({ conversation: before.conversation, runs: 3 });
  expect(await home.ok(["screen", "api"])).toContain("tides");
  await home.ok(["stop", "api"]);
  expect((await home.cli(["resume", "api", "--conversation", "nonsense"])).code).toBe(6);
});

test("an empty conversation is not resumed: a new one starts without the first prompt, and the command to go back is named", async () => {
  await using home = new TestHome();
  const before = await told(home, "api", "remember the tides");
  await home.ok(["stop", "api"]);
  await home.ok(["resume", "api", "--fresh"]);
  const empty = await home.until("api", ({ status }) => status === "idle");
  await home.ok(["stop", "api"]);
  expect(await home.ok(["resume", "api"])).toContain(
    `go back to the old one: holdfast stop api; holdfast resume api --conversation ${before.conversation}`,
  );
  const after = await home.until("api", ({ status, runs }) => status === "idle" && runs === 3);
  expect(after).toMatchObject({
    turns: 1,
    conversations: [{ id: before.conversation, turns: 1 }, { id: empty.conversation, turns: 0 }, { turns: 0 }],
  });
  expect(await home.ok(["screen", "api"])).not.toContain("tides");
  expect(await home.ok(["show", "api"])).not.toContain(empty.conversation);
});

test("an agent with unknown status resumes its conversation", async () => {
  await using home = new TestHome();
  home.env.XDG_CONFIG_HOME = path.join(home.root, "configuration");
  mkdirSync(path.join(home.env.XDG_CONFIG_HOME, "holdfast"), { recursive: true });
  const agent =
    '[agents.dark]\ncommand = ["sh", "-c", "echo words: $*; exec sleep 1000", "dark"]\nsession_id = ["--id", "{id}"]\nresume = ["--resume", "{id}"]\n';
  writeFileSync(path.join(home.env.XDG_CONFIG_HOME, "holdfast/config.toml"), agent);
  const { conversation } = await home.json<Session>(["spawn", "dark", "--name", "dark"]);
  await home.ok(["stop", "dark"]);
  expect(await home.ok(["resume", "dark"])).toContain(`continues its conversation ${conversation}`);
  await eventually(async () => (await home.ok(["screen", "dark"])).includes(`words: --resume ${conversation}`));
});

test("a failed resume erases nothing: the conversation is tried again, and continues once it can (NEW-02 resume)", async () => {
  await using home = new TestHome();
  const before = await told(home, "api", "remember the tides");
  await home.ok(["stop", "api"]);
  const kept = path.join(home.env.HOME ?? "", ".local/state/holdfast-demo");
  const away = path.join(home.root, "away");
  renameSync(kept, away);
  for (const run of [2, 3]) {
    expect((await home.cli(["resume", "api"])).code).toBe(35);
    expect(await home.ended("api")).toMatchObject({ runs: run, status: "failed", conversation: before.conversation });
  }
  renameSync(away, kept);
  await home.ok(["resume", "api"]);
  expect(await home.until("api", ({ status }) => status === "idle")).toMatchObject({ runs: 4, conversation: before.conversation });
});

test("a resume whose agent exits at once reports its last lines; an agent without output is not called ready (mend 13)", async () => {
  await using home = new TestHome();
  const marks = path.join(home.root, "marks");
  mkdirSync(marks);
  const script = `cd '${marks}'; [ -e slow ] && exec sleep 1000; [ -e again ] && { echo your login has expired; exit 4; }; touch again; exec sleep 1000`;
  mkdirSync(path.join(home.env.HOME ?? "", ".config/holdfast"), { recursive: true });
  const rule = '[[agents.weak.screen]]\nline = "never"\nturn = "idle"\n';
  const agent = `[agents.weak]\ncommand = ["sh", "-c", ${JSON.stringify(script)}]\n${rule}`;
  writeFileSync(path.join(home.env.HOME ?? "", ".config/holdfast/config.toml"), agent);
  await home.ok(["spawn", "weak", "--name", "api"]);
  await eventually(() => existsSync(path.join(marks, "again")));
  await home.ok(["stop", "api"]);
  const refused = await home.cli(["resume", "api"]);
  expect(refused).toMatchObject({ code: 35, stdout: "" });
  expect(refused.stderr).toContain("api was started (run 2) and ended at once (exit code 4)");
  expect(refused.stderr).toContain("your login has expired");
  writeFileSync(path.join(marks, "slow"), "");
  expect(await home.json(["resume", "api", "--no-wait"])).toMatchObject({ state: "starting", lines: [], runs: 3 });
});

test("a resumed command that exits at once reports its exit and fails; one that keeps running is not awaited (mend 13)", async () => {
  await using home = new TestHome();
  const mode = path.join(home.root, "mode");
  writeFileSync(mode, "exit 0");
  await home.run(`. '${mode}'`, "--name", "cmd");
  await home.ended("cmd");
  expect(await home.ok(["resume", "cmd"])).toBe("cmd ran its command again (run 2); it ended with exit code 0\n");
  writeFileSync(mode, "echo no such port; exit 3");
  const failed = await home.cli(["resume", "cmd"]);
  expect(failed).toMatchObject({ code: 35, stdout: "" });
  expect(failed.stderr).toContain("cmd was started (run 3) and ended at once (exit code 3)");
  expect(failed.stderr).toContain("no such port");
  expect(failed.stderr).not.toContain("conversation");
  writeFileSync(mode, "exec sleep 1000");
  expect(await home.ok(["resume", "cmd"])).toBe("cmd is running its command again (run 4)\n");
});

test("an agent without turns starts a new conversation, a command runs again, and a prompt is sent once the agent is ready", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "demo", "--name", "new", "--", "--fast"]);
  await home.until("new", ({ status }) => status === "idle");
  await home.run("echo once more", "--name", "cmd");
  await home.ended("cmd");
  await home.ok(["stop", "new"]);
  expect(await home.ok(["resume", "cmd"])).toMatch(/its command again \(run 2\)/);
  await home.ended("cmd");
  expect((await home.ok(["logs", "cmd"])).match(/once more/g)?.length).toBeGreaterThanOrEqual(1);
  expect(await home.json(["resume", "new", "--prompt", "say hello there"])).toMatchObject({ resumed: "fresh" });
  await home.until("new", ({ status, turns }) => status === "idle" && turns === 1);
  expect(await home.ok(["screen", "new"])).toContain("hello there");
});

test("when the journal and all backups are lost, a session resumes the conversation that its files name", async () => {
  await using home = new TestHome();
  const before = await told(home, "api", "remember the tides");
  await home.ok(["stop", "api"]);
  await home.ok(["down"]);
  for (const name of readdirSync(home.path).filter((each) => each.startsWith("holdfast.db") || each === "backups"))
    rmSync(path.join(home.path, name), { recursive: true });
  expect(await home.ok(["resume", "api"])).toContain(`continues its conversation ${before.conversation}`);
  await home.until("api", ({ status }) => status === "idle");
  expect(await home.ok(["screen", "api"])).toContain("remember the tides");
});

test("a missing directory is reported, and nothing starts", async () => {
  await using home = new TestHome();
  const place = path.join(home.root, "place");
  mkdirSync(place);
  await told(home, "api", "hello", "--cwd", place);
  await home.ok(["stop", "api"]);
  rmSync(place, { recursive: true });
  const refused = await home.cli(["resume", "api"]);
  expect(refused).toMatchObject({ code: 7, stderr: expect.stringContaining("does not exist") });
  expect((await home.session("api")).runs).toBe(1);
  expect(existsSync(place)).toBe(false);
  expect(readdirSync(path.join(home.path, "sessions")).length).toBe(1);
});

test("a rotated key is passed with --env, to resume and to a running conversation, and is in no event (mend 16)", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "--chat", "demo", "--name", "talk", "--env", "API_KEY=old-secret"]);
  expect(await home.ok(["chat", "talk", "-p", "env API_KEY"])).toBe("old-secret\n");
  const live = await home.cli(["chat", "talk", "--env", "API_KEY", "-p", "env API_KEY"], { env: { API_KEY: "new-secret" } });
  expect(live).toMatchObject({
    code: 0,
    stdout: "new-secret\n",
    stderr: expect.stringContaining("its agent was restarted with API_KEY"),
  });
  await home.ok(["stop", "talk"]);
  await home.ok(["resume", "talk", "--env", "API_KEY=newest-secret"]);
  expect(await home.ok(["chat", "talk", "-p", "env API_KEY"])).toBe("newest-secret\n");
  const { id } = await home.session("talk");
  expect(statSync(path.join(home.path, "sessions", id, "env")).mode & 0o777).toBe(0o600);
  // Except for the text that the agent was told to say.
  const facts = (await home.ok(["events"])).split("\n").filter((line) => !/"(session\.replied|turn\.ended|message\.replied)"/.test(line));
  expect(facts.join("\n")).not.toMatch(/new(est)?-secret/);
  const refused = await home.cli(["chat", "talk", "--cwd", "/", "-p", "hello"]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--cwd cannot be changed for an existing session") });
  await home.ok(["stop", "talk"]);
  const kept = await home.cli(["resume", "talk", "--env", "HOLDFAST_TOKEN=x"]);
  expect(kept).toMatchObject({ code: 2, stderr: expect.stringContaining("the variable HOLDFAST_TOKEN cannot be set") });
});

test("the budget of a running conversation can be changed (mend 16)", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "--chat", "demo", "--name", "talk", "--budget", "turns=9"]);
  await home.ok(["chat", "talk", "--budget", "cost=2,turns=off", "-p", "say hi"]);
  expect((await home.session("talk")).budget?.limits).toMatchObject([{ limit: "cost", allowed: 2 }]);
});

test("a conversation that cannot be opened joins no group, and a conversation that fails to join is in no group (mend 16)", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "--chat", "demo", "--name", "talk"]);
  await home.ok(["spawn", "--chat", "demo", "--name", "other"]);
  await home.ok(["group", "create", "full", "--limit", "1"]);
  await home.ok(["group", "join", "full", "other"]);
  expect((await home.cli(["chat", "talk", "--group", "team", "--model", "no-such", "-p", "say hi"])).code).not.toBe(0);
  const full = await home.cli(["chat", "talk", "--group", "team", "--group", "full", "-p", "say hi"]);
  expect(full).toMatchObject({ code: 44, stderr: expect.stringContaining("full") });
  expect((await home.session("talk")).groups).toEqual([]);
  await home.ok(["stop", "talk"]);
  expect((await home.cli(["chat", "talk", "--group", "full", "-p", "say hi"])).code).not.toBe(0);
  expect(await home.session("talk")).toMatchObject({ groups: [], status: "stopped" });
  expect(await home.ok(["chat", "talk", "--group", "team", "-p", "say hi"])).toBe("hi\n");
  expect((await home.session("talk")).groups).toEqual(["team"]);
});

test("a conversation stopped before its agent opened one resumes normally (mend 21)", async () => {
  await using home = new TestHome();
  const bin = path.join(home.root, "agent");
  const file = path.join(home.env.HOME ?? "", ".config/holdfast/config.toml");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `[agents.slow]\ncommand = ["sleep", "600"]\nstructured = [${JSON.stringify(bin)}]\n`);
  writeFileSync(bin, "#!/bin/sh\nexec sleep 600\n", { mode: 0o755 });
  await home.ok(["spawn", "--chat", "slow", "--name", "talk", "--prompt", "say never"]);
  await home.until("talk", ({ turns }) => turns === 1);
  await home.ok(["stop", "talk"]);
  using client = home.client();
  const resumed = await client.call("resumeSession", { params: { ref: "talk" }, body: {} });
  expect(resumed).toMatchObject({ resumed: "fresh", prompt: null });
  // The prompt of its first run is not repeated.
  expect(await home.session("talk")).toMatchObject({ runs: 2, turns: 1 });
});
