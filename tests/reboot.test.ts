import type { Generation, RestoreItem } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually } from "./home.ts";
import { OwnTmux } from "./own-tmux.ts";
import { RebootedHome } from "./reboot.ts";

type Restored = { generation: number | null; items: RestoreItem[] };

const outcomes = ({ items }: Restored) => items.map(({ name, outcome }) => `${name} ${outcome}`);

async function told(home: RebootedHome, name: string, word: string, host: string) {
  await home.ok(["spawn", "demo", "--name", name, "--host", host, "--prompt", word, "--", "--fast"]);
  return home.until(name, ({ status, turns }) => status === "idle" && turns === 1);
}

test("after a reboot the first command reports the lost sessions, and restore brings them back (SYM-06 resume)", async () => {
  await using home = new RebootedHome();
  const sun = await told(home, "sun", "speak of the sun", "tmux");
  const sea = await told(home, "sea", "speak of the sea", "native");
  await home.reboot();
  expect(await home.ok(["ls"])).toContain(
    "2 sessions ran when the machine or the tmux server went down. Bring them back: holdfast restore",
  );
  expect(await home.ok(["status"])).toContain("2 ended, of which 2 lost; restore them: holdfast restore");
  const { generations } = await home.json<{ generations: Generation[] }>(["restore", "ls"]);
  expect(generations).toMatchObject([{ why: "reboot", sessions: [{ name: "sun" }, { name: "sea" }] }]);
  expect(outcomes(await home.json<Restored>(["restore"]))).toEqual(["sun back", "sea back"]);
  for (const { name, conversation } of [sun, sea]) {
    expect(await home.session(name)).toMatchObject({ status: "idle", runs: 2, conversation });
    expect(await home.ok(["screen", name])).toContain(`speak of the ${name}`);
  }
  expect(await home.ok(["status"])).not.toContain("lost");
});

test("sessions ended by a clean shutdown are restored too, but not those stopped before", async () => {
  await using home = new RebootedHome();
  const sun = await told(home, "sun", "speak of the sun", "tmux");
  const sea = await told(home, "sea", "speak of the sea", "native");
  await told(home, "over", "say bye", "native");
  await home.ok(["stop", "over"]);
  await home.killDaemon();
  for (const { pid } of [sun, sea]) process.kill(pid ?? 0, "SIGTERM");
  await eventually(() => home.processes().every(({ pid }) => pid !== sun.pid && pid !== sea.pid));
  await home.reboot();
  expect(await home.session("sun")).toMatchObject({ status: "failed", exit: { code: 143 } });
  expect(outcomes(await home.json<Restored>(["restore", "--dry-run"]))).toEqual(["sun would", "sea would"]);
  expect(outcomes(await home.json<Restored>(["restore"]))).toEqual(["sun back", "sea back"]);
});

test("an adopted agent lost in a reboot is restored from its conversation, as a run of Holdfast", async () => {
  await using home = new RebootedHome();
  using tmux = new OwnTmux(home);
  tmux.type("actor --resume conversation-4711");
  await eventually(() => /^ready/m.test(tmux.screen())).catch(() => expect(tmux.screen()).toMatch(/^ready/m));
  await home.ok(["adopt", "--tmux", `${tmux.name}:work`, "--name", "mine"]);
  // In this order: a daemon would see the agent end and record it.
  await home.killDaemon();
  tmux.run("kill-server");
  await home.anotherBoot();
  expect(await home.session("mine")).toMatchObject({ status: "lost", cause: "lost" });
  expect(outcomes(await home.json<Restored>(["restore"]))).toEqual(["mine back"]);
  expect(await home.session("mine")).toMatchObject({ runs: 2, host: "tmux", conversation: "conversation-4711" });
  expect(await home.ok(["screen", "mine"])).toContain("ready --resume conversation-4711");
});
