import { chmodSync, existsSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Principal, SessionId } from "@holdfast/contract";
import { expect, test, vi } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { Journal } from "../journal/journal.ts";
import { SessionQueries } from "../projection/session-queries.ts";
import { sessionsProjection } from "../projection/sessions.ts";
import { KeepAwake } from "./keep-awake.ts";

const ACTOR = "user:tester" as Principal;
const ID = "aaaaaaaaaa" as SessionId;

/** A program of that name, which creates a file while it holds the lock and deletes it when its input ends. */
function machine(name: string) {
  const place = mkdtempDisposableSync(join(tmpdir(), "hf-awake-"));
  const holds = join(place.path, "holds");
  writeFileSync(join(place.path, name), `#!/bin/sh\necho "$*" > ${holds}\n/bin/cat\n/bin/rm -f ${holds}\n`);
  chmodSync(join(place.path, name), 0o755);
  const db = openDatabase(":memory:");
  const journal = new Journal({ db, projections: [sessionsProjection], machineName: "box" });
  const awake = new KeepAwake({ journal, queries: new SessionQueries(db), wanted: true, lingerMs: 50, againMs: 20, path: place.path });
  return { place, holds, journal, awake };
}

function begin(journal: Journal, command: string[]): void {
  const data = { name: "work", kind: "shell", agent: "shell", role: null, objective: null, host: "tmux", cwd: "/", command } as const;
  journal.append(
    { type: "session.created", actor: ACTOR, session: ID, data: { ...data, command } },
    { type: "session.started", actor: ACTOR, session: ID, data: { run: 1, pid: 7, pidStart: "x-1", outputPath: "/out" } },
  );
}

function end(journal: Journal): void {
  const how = {
    exit: { code: 0, signal: null },
    cause: "exited",
    endedAt: new Date().toISOString(),
    lastActivityAt: null,
    bytes: 0,
  } as const;
  journal.append({ type: "session.ended", actor: ACTOR, session: ID, data: { run: 1, ...how } });
}

test.each([
  ["systemd-inhibit", "--what=idle:sleep"],
  ["caffeinate", "-i cat"],
])("%s holds the lock while something works, and releases it when nothing does", async (name, words) => {
  const { place, holds, journal, awake } = machine(name);
  using _ = place;
  using kept = awake;
  kept.begin();
  expect(kept.state).toEqual({ active: false, by: null, trouble: null });
  begin(journal, ["make"]);
  await vi.waitFor(() => expect(readFileSync(holds, "utf8")).toContain(words), 5000);
  expect(kept.state).toEqual({ active: true, by: name, trouble: null });
  end(journal);
  await vi.waitFor(() => expect(existsSync(holds)).toBe(false), 5000);
  expect(kept.state?.active).toBe(false);
});

test("a shell that waits for a person takes no lock, and the end of a daemon releases the lock", async () => {
  const { place, holds, journal, awake } = machine("systemd-inhibit");
  using _ = place;
  awake.begin();
  begin(journal, ["bash"]);
  await journal.changed(0, AbortSignal.timeout(1000));
  expect(awake.state?.active).toBe(false);
  end(journal);
  journal.append({ type: "session.removed", actor: ACTOR, session: ID, data: { name: "work", parent: null } });
  begin(journal, ["make"]);
  await vi.waitFor(() => expect(existsSync(holds)).toBe(true), 5000);
  awake[Symbol.dispose]();
  await vi.waitFor(() => expect(existsSync(holds)).toBe(false), 5000);
});

test("a missing program is reported", async () => {
  const { place, journal, awake } = machine("nothing-of-the-kind");
  using _ = place;
  using kept = awake;
  kept.begin();
  begin(journal, ["make"]);
  await vi.waitFor(() => expect(kept.state?.trouble).toContain("neither systemd-inhibit nor caffeinate"), 5000);
  expect(kept.state?.active).toBe(false);
});

test("a lock program that dies is replaced in the middle of a turn", async () => {
  const { place, holds, journal, awake } = machine("systemd-inhibit");
  using _ = place;
  using kept = awake;
  const program = join(place.path, "systemd-inhibit");
  writeFileSync(program, `#!/bin/sh\necho $$ > ${holds}\nexec /bin/cat\n`);
  kept.begin();
  begin(journal, ["make"]);
  const holder = () => Number(readFileSync(holds, "utf8"));
  await vi.waitFor(() => expect(holder()).toBeGreaterThan(0), 5000);
  const first = holder();
  process.kill(first, "SIGKILL");
  await vi.waitFor(() => expect(holder()).not.toBe(first), 5000);
  expect(kept.state).toEqual({ active: true, by: "systemd-inhibit", trouble: null });
});
