import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Orphan, Session } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { lives } from "./proc.ts";

/** From the requirement. */
const NOTICED_MS = 1000;

function start(home: TestHome, host: string, script: string, name: string): Promise<Session> {
  return home.json<Session>(["run", "--host", host, "--name", name, "--", "sh", "-c", script]);
}

async function keeperOf(home: TestHome, host: string): Promise<number> {
  if (host === "tmux") return (await home.json<{ tmux: { pid: number } }>(["status"])).tmux.pid;
  const [file = ""] = readdirSync(path.join(home.path, "holders"));
  return (JSON.parse(readFileSync(path.join(home.path, "holders", file), "utf8")) as { pid: number }).pid;
}

/** The time from `act` until the journal records the session's end. */
async function noticedAfter(home: TestHome, id: string, act: () => void): Promise<{ ms: number; data: Record<string, unknown> }> {
  using client = home.client();
  const { cursor } = await client.call("listSessions", {});
  const began = performance.now();
  act();
  for await (const event of client.events({ query: { after: cursor, session: id, type: ["session.ended"] } })) {
    return { ms: performance.now() - began, data: event.data };
  }
  throw new Error("the stream of events ended");
}

describe.each(["tmux", "native"])("on the %s host", (host) => {
  test("the end of a program is noticed within a second, with its code or signal (SYM-04 hosts)", async () => {
    await using home = new TestHome();
    const waiting = await start(home, host, "trap 'exit 9' USR1; echo ready; while :; do sleep 0.01; done", "waiting");
    await home.ok(["wait", "waiting", "--for", "output=ready"]);
    const exited = await noticedAfter(home, waiting.id, () => process.kill(waiting.pid ?? 0, "SIGUSR1"));
    expect(exited.data).toMatchObject({ cause: "exited", exit: { code: 9, signal: null } });
    expect(exited.ms).toBeLessThan(NOTICED_MS);
    const killed = await start(home, host, "exec sleep 60", "killed");
    const died = await noticedAfter(home, killed.id, () => process.kill(killed.pid ?? 0, "SIGKILL"));
    expect(died.data).toMatchObject({ cause: "exited", exit: { code: null, signal: "SIGKILL" } });
    expect(died.ms).toBeLessThan(NOTICED_MS);
  });

  test("kill -9 of the keeper is noticed within a second, and the next session starts (SYM-04 hosts)", async () => {
    await using home = new TestHome();
    const session = await start(home, host, "exec sleep 60", "kept");
    const keeper = await keeperOf(home, host);
    const lost = await noticedAfter(home, session.id, () => process.kill(keeper, "SIGKILL"));
    expect(lost.data).toMatchObject({ cause: "lost", exit: null });
    expect(lost.ms).toBeLessThan(NOTICED_MS);
    expect(await home.session("kept")).toMatchObject({ status: "lost", exit: null });
    expect(await start(home, host, "exec sleep 60", "next")).toMatchObject({ status: "working" });
  });

  test("the next daemon marks a session as lost if its keeper died with the daemon, whatever process has its pid now (SYM-04 hosts)", async () => {
    await using home = new TestHome();
    const session = await start(home, host, "exec sleep 60", "kept");
    const keeper = await keeperOf(home, host);
    const daemon = await home.daemonPid();
    process.kill(daemon, "SIGKILL");
    process.kill(keeper, "SIGKILL");
    await eventually(() => !lives(daemon) && !lives(keeper) && !lives(session.pid ?? 0));
    expect(await home.session("kept")).toMatchObject({ status: "lost", exit: null, pid: session.pid });
  });

  test("a program that ended while no daemon ran is recorded with its code (SYM-04 hosts)", async () => {
    await using home = new TestHome();
    const session = await start(home, host, "while [ ! -e go ]; do sleep 0.01; done; echo late; exit 4", "late");
    await home.killDaemon();
    writeFileSync(path.join(session.cwd, "go"), "");
    await eventually(() => !lives(session.pid ?? 0));
    expect(await home.session("late")).toMatchObject({ status: "failed", exit: { code: 4, signal: null } });
    expect(await home.ok(["logs", "late"])).toBe("late\n");
  });

  test("an unrecorded run is reported, left running, and adopted or stopped on request (SYM-04 hosts)", async () => {
    await using home = new TestHome();
    const adopted = await start(home, host, "while :; do echo tick; sleep 0.2; done", "adopted");
    const stopped = await start(home, host, "exec sleep 60", "stopped");
    await home.ok(["down"]);
    using db = new DatabaseSync(path.join(home.path, "holdfast.db"));
    db.exec("UPDATE runs SET ended_at = '2026-01-01T00:00:00.000Z', cause = 'lost'; UPDATE sessions SET status = 'lost'");
    db.close();
    const orphans = await home.json<Orphan[]>(["orphans", "ls"]);
    expect(orphans.map(({ session, pid, kind, adoptable }) => ({ session, pid, kind, adoptable }))).toEqual(
      expect.arrayContaining([adopted, stopped].map(({ id, pid }) => ({ session: id, pid, kind: "run", adoptable: true }))),
    );
    expect(await home.ok(["doctor"])).toContain("2 processes run without a record");
    expect(await home.json<Session[]>(["ls"])).toEqual([]);
    expect(lives(adopted.pid ?? 0) && lives(stopped.pid ?? 0)).toBe(true);

    expect(await home.json<Session>(["orphans", "adopt", `${adopted.id}-1`])).toMatchObject({
      id: adopted.id,
      name: "adopted",
      status: "working",
      pid: adopted.pid,
    });
    await home.ok(["wait", "adopted", "--for", "output=tick", "--timeout", "60s"]);
    await home.ok(["orphans", "stop", `${stopped.id}-1`]);
    expect(lives(stopped.pid ?? 0)).toBe(false);
    expect(await home.json<Orphan[]>(["orphans", "ls"])).toEqual([]);
    await home.ok(["stop", "adopted"]);
  });

  test("a run whose files are gone too keeps running, and is reported as only stoppable", async () => {
    await using home = new TestHome();
    const { id, pid } = await start(home, host, "exec sleep 60", "it");
    await home.ok(["down"]);
    rmSync(path.join(home.path, "sessions"), { recursive: true });
    for (const name of readdirSync(home.path)) if (name.startsWith("holdfast.db")) rmSync(path.join(home.path, name));
    rmSync(path.join(home.path, "backups"), { recursive: true, force: true });
    const listed = await home.ok(["orphans"]);
    expect(listed).toContain("its session files are gone, so it cannot become a session again");
    expect(listed).toContain(`holdfast orphans stop ${id}-1`);
    const refused = await home.cli(["orphans", "adopt", `${id}-1`]);
    expect(refused).toMatchObject({
      code: 6,
      stderr: expect.stringContaining(`it keeps running; to end it: holdfast orphans stop ${id}-1`),
    });
    expect(lives(pid ?? 0)).toBe(true);
    await home.ok(["orphans", "stop", `${id}-1`]);
    expect(lives(pid ?? 0)).toBe(false);
  });
});

test("a process that outlived its run is reported and stopped on request (SYM-04 hosts)", async () => {
  await using home = new TestHome();
  await home.run("trap '' HUP; (trap '' HUP; exec setsid sleep 61) & exit 0", "--name", "left");
  await home.ended("left");
  const [orphan] = await eventually(async () => {
    const orphans = await home.json<Orphan[]>(["orphans", "ls"]);
    return orphans.length > 0 && orphans;
  });
  expect(orphan).toMatchObject({ kind: "process", adoptable: false, command: "sleep 61" });
  const refused = await home.cli(["orphans", "adopt", orphan?.id ?? ""]);
  expect(refused.code).toBe(6);
  expect(refused.stderr).toContain(`holdfast orphans stop ${orphan?.id}`);
  await home.ok(["orphans", "stop", orphan?.id ?? ""]);
  expect(lives(orphan?.pid ?? 0)).toBe(false);
});
