import type { HostName, Principal, SessionId } from "@holdfast/contract";
import { boot } from "@holdfast/platform";
import { expect, test } from "vitest";
import { openDatabase } from "../../journal/database.ts";
import { Journal } from "../../journal/journal.ts";
import { generationsProjection } from "../../projection/generations.ts";
import { SessionQueries } from "../../projection/session-queries.ts";
import { sessionsProjection } from "../../projection/sessions.ts";
import type { Sessions } from "../sessions.ts";
import { Restoring } from "./restoring.ts";

const ACTOR = "user:tester" as Principal;
const MINUTE = 60_000;
const BEFORE = Date.parse("2026-01-01T00:00:00Z");

/** A journal with the test's clock, of a machine that has been rebooted. */
function machine() {
  const time = { now: BEFORE };
  const db = openDatabase(":memory:");
  const journal = new Journal({ db, projections: [sessionsProjection, generationsProjection], machineName: "box", clock: () => time.now });
  const queries = new SessionQueries(db);
  const resumed: string[] = [];
  const daemon = (boot: string, { auto = false } = {}) => {
    journal.append({ type: "daemon.started", actor: ACTOR, session: null, data: { pid: 7, version: "0", node: "/node", boot } });
    // A start whose end nobody survives to see.
    const resume = (id: string) => {
      resumed.push(id);
      return new Promise(() => {});
    };
    const sessions = { checkResume: () => null, resume } as unknown as Sessions;
    return new Restoring({ journal, db, queries, sessions, auto });
  };
  const ran = (name: string, exit: { code: number | null; signal: string | null }, host: HostName = "tmux") => {
    const session = `${name}aaaaaaaaaa`.slice(0, 10) as SessionId;
    const what = { name, kind: "shell", agent: "shell", role: null, objective: null, host, cwd: "/", command: ["bash"] } as const;
    const endedAt = new Date(time.now).toISOString();
    journal.append(
      { type: "session.created", actor: ACTOR, session, data: { ...what, command: ["bash"] } },
      { type: "session.started", actor: ACTOR, session, data: { run: 1, pid: 7, pidStart: "00000000-1", outputPath: "/out" } },
      { type: "session.ended", actor: ACTOR, session, data: { run: 1, exit, cause: "exited", endedAt, lastActivityAt: null, bytes: 0 } },
    );
  };
  return { time, daemon, ran, resumed };
}

const TERM = { code: null, signal: "SIGTERM" };

test("sessions ended by a signal at shutdown are due; those killed long before, or ended on their own, are not", () => {
  const { time, daemon, ran } = machine();
  daemon("00000000")[Symbol.dispose]();
  ran("killed", TERM);
  time.now += 10 * MINUTE;
  ran("down", TERM);
  ran("done", { code: 0, signal: null });
  time.now += 60 * MINUTE;
  using restoring = daemon(boot());
  restoring.begin();
  expect(restoring.list().due.map(({ name }) => name)).toEqual(["down"]);
  expect(restoring.list().generations).toMatchObject([{ why: "reboot", sessions: [{ name: "down" }] }]);
});

test("an adopted agent with an unknown exit is due if it ended together with everything else", () => {
  const { time, daemon, ran } = machine();
  const unknown = { code: null, signal: null };
  daemon("00000000")[Symbol.dispose]();
  ran("left", unknown, "foreign");
  time.now += MINUTE;
  ran("down", unknown, "foreign");
  time.now += 2000;
  ran("too", TERM);
  time.now += 60 * MINUTE;
  using restoring = daemon(boot());
  restoring.begin();
  expect(restoring.list().due.map(({ name }) => name)).toEqual(["down", "too"]);
});

test("if the first daemon of a boot dies before it records what is due, the next one does, however late", () => {
  const { time, daemon, ran } = machine();
  daemon("00000000")[Symbol.dispose]();
  ran("killed", TERM);
  time.now += 10 * MINUTE;
  ran("down", TERM);
  time.now += 60 * MINUTE;
  // This daemon records only that it started.
  daemon(boot())[Symbol.dispose]();
  time.now += 60 * MINUTE;
  using restoring = daemon(boot());
  restoring.begin();
  expect(restoring.list().due.map(({ name }) => name)).toEqual(["down"]);
});

test("an automatic restore that no daemon survives is left to a person after three attempts", () => {
  const { time, daemon, ran, resumed } = machine();
  daemon("00000000")[Symbol.dispose]();
  ran("down", TERM);
  time.now = Date.now();
  for (const tries of [1, 2, 3, 3, 3]) {
    using restoring = daemon(boot(), { auto: true });
    restoring.begin();
    expect(resumed).toHaveLength(tries);
  }
});

test("a session that is not restored stays in its generation, however many follow", () => {
  const { daemon, ran } = machine();
  daemon("00000000")[Symbol.dispose]();
  ran("first", TERM);
  const restoring = daemon(boot());
  restoring.begin();
  for (let i = 0; i < 25; i++) {
    ran(`n${String.fromCharCode(97 + i)}`, TERM);
    restoring[Symbol.dispose]();
    using next = daemon(boot());
    next.begin();
  }
  const { generations } = restoring.list();
  expect(generations.filter(({ sessions }) => sessions.some(({ name }) => name === "first"))).toMatchObject([{ number: 1 }]);
});
