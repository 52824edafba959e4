import { mkdirSync, mkdtempDisposableSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { newSessionId, type Principal, type SessionId } from "@holdfast/contract";
import { type Home, openHome } from "@holdfast/platform";
import { expect, test } from "vitest";
import { openDatabase } from "../../journal/database.ts";
import { Journal } from "../../journal/journal.ts";
import { SessionQueries } from "../../projection/session-queries.ts";
import { sessionsProjection } from "../../projection/sessions.ts";
import { type Spec, writeLaunch, writeSessionFiles } from "../run/run-files.ts";
import { sweepSessions } from "./sweep.ts";

function rooms(): { home: Home; journal: Journal; sweep(): string[] } & Disposable {
  const directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const home = openHome({ HOLDFAST_HOME: join(directory.path, "home") });
  mkdirSync(home.sessions, { recursive: true });
  const db = openDatabase(home.database);
  const journal = new Journal({ db, projections: [sessionsProjection], machineName: "box" });
  return {
    home,
    journal,
    sweep() {
      sweepSessions(home, { journal, queries: new SessionQueries(db) });
      return readdirSync(home.sessions).sort();
    },
    [Symbol.dispose]() {
      db.close();
      directory.remove();
    },
  };
}

function files(home: Home, name: string, ...paths: string[]): string {
  for (const path of paths) {
    const file = join(home.sessions, name, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "x");
  }
  return name;
}

/** The files of a start before the journal knows it. */
function prepared(home: Home): void {
  const id = newSessionId();
  const what = { id, name: "new", kind: "shell", agent: "shell", role: null, objective: null, host: "native" } as const;
  const spec: Spec = { v: 1, ...what, cwd: "/", command: ["true"], umask: 0o22 };
  writeSessionFiles(home, spec, {});
  writeLaunch(home, { session: id, run: 1 }, { spec, env: {} });
}

test("a start that began nothing and an interrupted removal are swept", () => {
  using at = rooms();
  prepared(at.home);
  files(at.home, newSessionId(), "spec.json.77.1.tmp");
  mkdirSync(join(at.home.sessions, newSessionId()));
  const removed = files(at.home, newSessionId(), "spec.json", "runs/1/output.000000", "runs/1/exit.json") as SessionId;
  const event = { type: "session.removed", actor: "user:tester" as Principal, session: removed, data: { name: "gone" } } as const;
  at.journal.append(event);
  expect(at.sweep()).toEqual([]);
});

test("files that are not ours, or may be the rest of a session, stay", () => {
  using at = rooms();
  const kept = [
    files(at.home, "my-notes", "spec.json"),
    files(at.home, newSessionId(), "notes.txt"),
    files(at.home, newSessionId(), "spec.json", "transcript/1.jsonl"),
    // The files of its first run are gone; the second has a recording.
    files(at.home, newSessionId(), "spec.json", "env", "runs/2/launch", "runs/2/output.000000"),
  ];
  const [file, link] = [newSessionId(), newSessionId()];
  writeFileSync(join(at.home.sessions, file), "a file of this name");
  symlinkSync(at.home.backups, join(at.home.sessions, link));
  expect(at.sweep()).toEqual([...kept, file, link].sort());
});
