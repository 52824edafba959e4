import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Generation, RestoreItem, Session } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { pullThePlug } from "./plug.ts";

async function told(home: TestHome, name: string, word: string, ...flags: string[]): Promise<Session> {
  await home.ok(["spawn", "demo", "--name", name, "--prompt", word, ...flags, "--", "--fast"]);
  return home.until(name, ({ status, turns }) => status === "idle" && turns === 1);
}

type Restored = { generation: number | null; items: RestoreItem[] };

describe.each(["tmux", "native"])("on the %s host", (host) => {
  test("after a kill of all processes, restore brings sessions back from disk alone, and names each failure with its reason (NEW-02 resume)", async () => {
    await using home = new TestHome();
    const sun = await told(home, "sun", "speak of the sun", "--host", host);
    const sea = await told(home, "sea", "speak of the sea", "--host", host);
    await home.json(["spawn", "shell", "--name", "sh", "--host", host]);
    await home.run("exec sleep 1000", "--name", "cmd", "--host", host);
    await told(home, "ended", "say bye", "--host", host);
    await home.ok(["stop", "ended"]);
    await pullThePlug(home);
    const forgotten = path.join(home.env.HOME ?? "", ".local/state/holdfast-demo", `${sea.conversation}.jsonl`);
    renameSync(forgotten, `${forgotten}.away`);

    const planned = await home.json<Restored>(["restore", "--dry-run"]);
    expect(planned.items.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual(["sun would", "sea would", "sh would", "cmd skipped"]);
    expect(await home.session("sun")).toMatchObject({ status: "lost", runs: 1 });

    const first = await home.cli(["restore", "--json"]);
    expect(first.code).toBe(34);
    const { items } = JSON.parse(first.stdout) as Restored;
    expect(items).toMatchObject([
      { name: "sun", outcome: "back", conversation: sun.conversation },
      { name: "sea", outcome: "failed", why: expect.stringContaining("exit code 1"), hint: expect.stringContaining("holdfast logs sea") },
      { name: "sh", outcome: "back" },
      { name: "cmd", outcome: "skipped", hint: expect.stringContaining("holdfast resume cmd") },
    ]);
    expect(await home.session("sun")).toMatchObject({ status: "idle", runs: 2, conversation: sun.conversation });
    expect(await home.ok(["screen", "sun"])).toContain("speak of the sun");
    expect(await home.session("sea")).toMatchObject({ status: "failed", conversation: sea.conversation });

    renameSync(`${forgotten}.away`, forgotten);
    const again = await home.json<Restored>(["restore"]);
    expect(again.items.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual(["sea back", "cmd skipped"]);
    expect(await home.ok(["screen", "sea"])).toContain("speak of the sea");
    expect(await home.session("sun")).toMatchObject({ runs: 2 });
  });
});

test("losses are recorded once, and a failed restore can be repeated with the same conversations", async () => {
  await using home = new TestHome();
  const before = await told(home, "api", "remember the tides", "--host", "native");
  await pullThePlug(home);
  const { generations } = await home.json<{ generations: Generation[] }>(["restore", "ls"]);
  expect(generations).toMatchObject([{ number: 1, why: "keeper", sessions: [{ name: "api", run: 1, conversation: before.conversation }] }]);
  await home.ok(["resume", "api", "--fresh"]);
  const fresh = await home.until("api", ({ status }) => status === "idle");
  expect(fresh.conversation).not.toBe(before.conversation);
  await home.ok(["stop", "api"]);
  expect((await home.json<Restored>(["restore"])).items).toEqual([]);
  const { items } = await home.json<Restored>(["restore", "--generation", "1"]);
  expect(items).toMatchObject([{ name: "api", outcome: "back", conversation: before.conversation }]);
  expect(await home.ok(["screen", "api"])).toContain("remember the tides");
  expect((await home.cli(["restore", "--generation", "7"])).code).toBe(3);
  expect(await home.ok(["restore", "ls"])).toContain("their keeper vanished");
});

test('with restore = "auto" the daemon restores at its start, and gives up after a few failed tries', async () => {
  await using home = new TestHome();
  const configuration = path.join(home.env.HOME ?? "", ".config/holdfast");
  mkdirSync(configuration, { recursive: true });
  writeFileSync(path.join(configuration, "config.toml"), 'restore = "auto"\n');
  const before = await told(home, "api", "remember the tides", "--host", "native");
  await pullThePlug(home);
  await home.ok(["up"]);
  expect(await home.until("api", ({ status }) => status === "idle")).toMatchObject({ runs: 2, conversation: before.conversation });
  renameSync(path.join(home.env.HOME ?? "", ".local/state/holdfast-demo"), path.join(home.root, "away"));
  await pullThePlug(home);
  for (const runs of [3, 4]) {
    await home.ok(["up"]);
    await home.until("api", (session) => session.runs === runs && session.endedAt !== null);
    await eventually(async () => (await home.ok(["events", "--type", "restore.ended"])).trim().split("\n").length === runs - 1);
    await home.ok(["down"]);
  }
  await home.ok(["up"]);
  await eventually(() => home.ok(["restore", "ls"]).then((text) => text.includes("not restored: api")));
  expect(await home.session("api")).toMatchObject({ runs: 4, conversation: before.conversation });
});

test("a session that starts and waits for a login or for trust is not reported as restored, and --dry-run predicts known failures", async () => {
  await using home = new TestHome();
  home.env.XDG_CONFIG_HOME = path.join(home.root, "configuration");
  mkdirSync(path.join(home.env.XDG_CONFIG_HOME, "holdfast"), { recursive: true });
  const marker = path.join(home.root, "logged-out");
  const script = `[ -e '${marker}' ] && echo please log in || echo ready; exec sleep 1000`;
  const agent = `[agents.timid]
command = ["sh", "-c", ${JSON.stringify(script)}]
[[agents.timid.screen]]
line = "^please log in"
waits = "login"
[[agents.timid.screen]]
line = "^ready"
turn = "idle"
`;
  writeFileSync(path.join(home.env.XDG_CONFIG_HOME, "holdfast/config.toml"), agent);
  const place = path.join(home.root, "place");
  mkdirSync(place);
  for (const flags of [
    ["--name", "timid"],
    ["--name", "homeless", "--cwd", place],
  ]) {
    await home.ok(["spawn", "timid", "--host", "native", ...flags]);
    await home.until(flags[1] ?? "", ({ status }) => status === "idle");
  }
  await pullThePlug(home);
  writeFileSync(marker, "");
  renameSync(place, `${place}-elsewhere`);
  const { items: planned } = await home.json<Restored>(["restore", "--dry-run"]);
  expect(planned).toMatchObject([
    { outcome: "would" },
    { name: "homeless", outcome: "failed", why: expect.stringContaining("does not exist") },
  ]);
  const { stdout } = await home.cli(["restore", "--json"]);
  expect((JSON.parse(stdout) as Restored).items).toMatchObject([
    { name: "timid", outcome: "started", why: "it runs, and waits for a login", hint: "attach to it: holdfast attach timid" },
    { name: "homeless", outcome: "failed" },
  ]);
});

test("a session lost during a turn is reported as such, with the command that continues it", async () => {
  await using home = new TestHome();
  await told(home, "api", "remember the tides", "--host", "native");
  await home.ok(["send", "api", "talk 60s"]);
  await home.until("api", ({ status, turns }) => status === "working" && turns === 2);
  await pullThePlug(home);
  const { items } = await home.json<Restored>(["restore"]);
  expect(items).toMatchObject([
    {
      name: "api",
      outcome: "back",
      why: "continued its conversation; it was in the middle of a turn",
      hint: "to let it continue: holdfast send api 'continue where you were'",
    },
  ]);
});

test("an automatic restore without candidates leaves no trace", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "cmd", "--host", "native");
  await pullThePlug(home);
  home.env.XDG_CONFIG_HOME = path.join(home.root, "configuration");
  mkdirSync(path.join(home.env.XDG_CONFIG_HOME, "holdfast"), { recursive: true });
  writeFileSync(path.join(home.env.XDG_CONFIG_HOME, "holdfast/config.toml"), 'restore = "auto"\n');
  await home.ok(["up"]);
  expect((await home.json<{ due: RestoreItem[] }>(["restore", "ls"])).due).toMatchObject([{ name: "cmd", outcome: "skipped" }]);
  expect(await home.ok(["events", "--type", "restore.ended"])).toBe("");
});
