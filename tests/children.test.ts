/** Sessions that start others: the tree they make, how it is stopped, and what comes back from it. */
import type { AnyEvent, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { lives } from "./proc.ts";

/** A shell, a child that will not end by SIGTERM, a conversation below that, and a stranger. */
async function family(home: TestHome): Promise<void> {
  await home.run("exec sleep 1000", "--name", "stranger");
  const child = `${HOLDFAST} spawn --chat demo --name talk; ${HOLDFAST} spawn demo --name agent; trap '' TERM; while :; do sleep 0.1; done`;
  await home.run(
    `${HOLDFAST} run --name child -- sh -c "${child}"; ${HOLDFAST} run --name other -- sleep 1000; exec sleep 1000`,
    "--name",
    "top",
  );
  await eventually(async () => (await home.json<Session[]>(["ls"])).filter(({ status }) => status !== "starting").length === 6);
}

test("ls --tree shows each session under the one that started it (SYM-14 together)", async () => {
  await using home = new TestHome();
  await family(home);
  const names = (text: string) =>
    text
      .split("\n")
      .slice(1, -1)
      .map((line) => line.split(/ {2,}\w/)[0]?.trimEnd());
  const all = names(await home.ok(["ls", "--tree"]));
  expect(all.slice(0, 3)).toEqual(["stranger", "top", "├─ child"]);
  expect(
    all
      .slice(3, 5)
      .map((line) => line?.replace(/^.*─ /, ""))
      .sort(),
  ).toEqual(["agent", "talk"]);
  expect(all.slice(3, 5).map((line) => line?.replace(/\w+$/, ""))).toEqual(["│  ├─ ", "│  └─ "]);
  expect(all[5]).toBe("└─ other");
  expect((await home.json<Session[]>(["ls", "--tree", "child"])).map(({ name }) => name).sort()).toEqual(["agent", "child", "talk"]);
  // A parent that has ended is shown while something below it runs.
  await home.ok(["stop", "top", "--grace", "1s"]);
  expect(names(await home.ok(["ls", "--tree"])).slice(0, 3)).toEqual(["stranger", "top", "├─ child"]);
});

test("stop --tree ends shells, agents and conversations that descend from a session, and nothing else (SYM-14 together, BG-02 together)", async () => {
  await using home = new TestHome();
  await family(home);
  const before = await home.json<Session[]>(["ls"]);
  const stopped = await home.json<(Session & { killed: { signal: string }[] })[]>(["stop", "--tree", "top", "--grace", "500ms"]);
  expect(stopped.map(({ name, status }) => [name, status]).sort()).toEqual([
    ["agent", "stopped"],
    ["child", "stopped"],
    ["other", "stopped"],
    ["talk", "stopped"],
    ["top", "stopped"],
  ]);
  expect(stopped.find(({ name }) => name === "child")?.killed.some(({ signal }) => signal === "SIGKILL")).toBe(true);
  for (const { name, pid } of before) expect([name, lives(Number(pid))]).toEqual([name, name === "stranger"]);
  expect(await home.cli(["stop", "--tree", "top"])).toMatchObject({ code: 6, stderr: expect.stringContaining("top has ended") });
});

test("a session that has ended is stopped with its tree all the same, as is what was to be started again", async () => {
  await using home = new TestHome();
  const restarting = `${HOLDFAST} run --name again --restart always -- sh -c 'exit 3'`;
  await home.run(`${HOLDFAST} run --name child -- sleep 1000; ${restarting}`, "--name", "top");
  await home.ended("top");
  await home.until("again", ({ restartAt }) => restartAt !== null);
  expect(await home.ok(["stop", "--tree", "top"])).toMatch(/^child stopped \(1 process\)\nagain gets no further run$/m);
  expect((await home.session("child")).status).toBe("stopped");
});

test("what is stopped with its tree starts nothing any more, and a kill of the daemon in the middle stops no part only (BG-02 together)", async () => {
  await using home = new TestHome();
  // On SIGTERM it would start another, and takes its time.
  const stubborn = `trap '${HOLDFAST} run --name late -- sleep 1000 2>${home.root}/refused; sleep 3; exit 0' TERM; while :; do sleep 0.05; done`;
  await home.run(`${HOLDFAST} run --name child -- sleep 1000; ${stubborn}`, "--name", "top");
  await eventually(async () => (await home.json<Session[]>(["ls"])).length === 2);
  const stopping = home.cli(["stop", "--tree", "top", "--grace", "20s"]);
  await eventually(async () => {
    const { stdout } = await home.cli(["events", "--json"]);
    return stdout.split("\n").filter((line) => line.includes("session.stop_requested")).length === 2;
  });
  await home.killDaemon();
  await stopping;
  const ended = await eventually(async () => {
    const sessions = await home.json<Session[]>(["ls", "--all"]);
    return sessions.every(({ endedAt }) => endedAt !== null) && sessions;
  });
  expect(ended.map(({ name, status }) => [name, status]).sort()).toEqual([
    ["child", "stopped"],
    ["top", "stopped"],
  ]);
  const events = (await home.ok(["events"]))
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AnyEvent);
  const requests = events.filter(({ type }) => type === "session.stop_requested");
  // One fact: nothing is between the two.
  expect((requests[1]?.seq ?? 0) - (requests[0]?.seq ?? 0)).toBe(1);
});
