import { HoldfastError, type Principal, type SessionId, type SessionStatus } from "@holdfast/contract";
import { expect, test } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { Journal } from "../journal/journal.ts";
import { SessionQueries } from "./session-queries.ts";
import { sessionsProjection } from "./sessions.ts";

const ACTOR = "user:tester" as Principal;
const NOW = "2026-01-02T03:04:05.006Z";

/** Sessions by `id name [status] [agent]`, oldest first. */
function having(...sessions: string[]): SessionQueries {
  const db = openDatabase(":memory:");
  const journal = new Journal({ db, projections: [sessionsProjection], machineName: "box" });
  for (const line of sessions) {
    const [id = "", name = "", status = "working", agent = "shell"] = line.split(" ");
    const envelope = { actor: ACTOR, session: id as SessionId };
    const command = ["sh"];
    const data = {
      name,
      kind: status === "unknown" ? "terminal" : "shell",
      agent,
      role: null,
      objective: null,
      host: "tmux",
      cwd: "/",
      command,
    } as const;
    journal.append({ ...envelope, type: "session.created", data: { ...data, command } });
    if (status === "starting") continue;
    journal.append({ ...envelope, type: "session.started", data: { run: 1, pid: 7, pidStart: "x", outputPath: "/out" } });
    const end = ENDS[status as SessionStatus];
    const about = { run: 1, endedAt: NOW, lastActivityAt: null, bytes: 0 };
    if (end) journal.append({ ...envelope, type: "session.ended", data: { ...about, ...end } });
  }
  return new SessionQueries(db);
}

const ENDS: Partial<Record<SessionStatus, { cause: "exited" | "stopped" | "lost"; exit: { code: number; signal: null } | null }>> = {
  done: { cause: "exited", exit: { code: 0, signal: null } },
  failed: { cause: "exited", exit: { code: 1, signal: null } },
  stopped: { cause: "stopped", exit: { code: 0, signal: null } },
  lost: { cause: "lost", exit: null },
};

function refusal(ask: () => unknown): HoldfastError {
  try {
    ask();
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

test("a session is found by its name, its id, or an id prefix", () => {
  const queries = having("abcdefghij build", "xyzabcdefg test");
  expect(queries.resolve("build").id).toBe("abcdefghij");
  expect(queries.resolve("abcdefghij").name).toBe("build");
  expect(queries.resolve("x").name).toBe("test");
  expect(queries.resolve("abcdefghi").name).toBe("build");
});

test("an exact name takes precedence over an id, and an exact id over a prefix", () => {
  const queries = having("abcdefghij one", "bbbbbbbbbb abcdefghij", "cccccccccc abc", "abczzzzzzz two");
  expect(queries.resolve("abcdefghij").id).toBe("bbbbbbbbbb");
  expect(queries.resolve("abc").id).toBe("cccccccccc");
  expect(queries.resolve("abcz").id).toBe("abczzzzzzz");
});

test("a name is found however its accents are encoded", () => {
  expect(having(`abcdefghij ${"café".normalize("NFC")}`).resolve("café".normalize("NFD")).id).toBe("abcdefghij");
});

test("an ambiguous prefix is refused with all matches", () => {
  const error = refusal(() => having("abcdefghij build", "abzzzzzzzz test", "xxxxxxxxxx other").resolve("ab"));
  expect(error.code).toBe("session_ambiguous");
  expect(error.candidates).toEqual(["abcdefghij (build)", "abzzzzzzzz (test)"]);
});

test("an unknown name is refused with similar names", () => {
  const queries = having("abcdefghij build", "bbbbbbbbbb build-2", "cccccccccc deploy");
  expect(refusal(() => queries.resolve("biuld"))).toMatchObject({ code: "session_not_found", candidates: ["build"] });
  expect(refusal(() => queries.resolve("BUILD")).candidates).toEqual(["build", "build-2"]);
  expect(refusal(() => queries.resolve("deploy-to-production")).candidates).toEqual(["deploy"]);
  expect(refusal(() => queries.resolve("zzz")).candidates).toEqual(["build", "build-2", "deploy"]);
});

test("without any sessions, an unknown name gives a hint how to start one", () => {
  expect(refusal(() => having().resolve("build"))).toMatchObject({ candidates: [], hint: expect.stringContaining("holdfast run") });
});

test.each(["", "%", "_", "a%", "a*", "'", "' OR 1=1 --", "~", "abcdefghij~", "A", "\0", "\u{1f600}", "a".repeat(100_000)])(
  "%j finds nothing and breaks nothing",
  (ref) => {
    expect(refusal(() => having("abcdefghij build").resolve(ref)).code).toBe("session_not_found");
  },
);

test("select returns sessions that have not ended; with all, everything, oldest first", () => {
  const queries = having("aaaaaaaaaa a done", "bbbbbbbbbb b", "cccccccccc c lost", "dddddddddd d unknown", "eeeeeeeeee e starting");
  const names = (filter: Parameters<SessionQueries["select"]>[0]) => queries.select(filter).map(({ name }) => name);
  expect(names({})).toEqual(["b", "d", "e"]);
  expect(queries.live().map(({ name }) => name)).toEqual(["b", "d", "e"]);
  expect(names({ all: true })).toEqual(["a", "b", "c", "d", "e"]);
  expect(names({ status: ["lost", "working"] })).toEqual(["b", "c"]);
  expect(queries.counts()).toEqual({ running: 3, ended: 2, lost: 1 });
});

test("filters apply, and names are returned in the given order, each once", () => {
  const queries = having("aaaaaaaaaa a done demo", "bbbbbbbbbb b working demo", "cccccccccc c working shell");
  const names = (filter: Parameters<SessionQueries["select"]>[0]) => queries.select(filter).map(({ name }) => name);
  expect(names({ agent: ["demo"] })).toEqual(["b"]);
  expect(names({ agent: ["demo"], all: true })).toEqual(["a", "b"]);
  expect(names({ names: ["c", "a", "cccccccccc", "c"] })).toEqual(["c", "a"]);
  expect(names({ names: ["c", "a"], status: ["done"] })).toEqual(["a"]);
  expect(names({ agent: ["nobody"] })).toEqual([]);
  expect(refusal(() => queries.select({ names: ["a", "nope"] })).code).toBe("session_not_found");
});

test("an empty list of names, agents or statuses selects nothing, never everything", () => {
  const queries = having("aaaaaaaaaa a done", "bbbbbbbbbb b");
  expect(queries.select({ names: [] })).toEqual([]);
  expect(queries.select({ agent: [] })).toEqual([]);
  expect(queries.select({ status: [] })).toEqual([]);
  expect(refusal(() => queries.select({ names: [""] })).code).toBe("session_not_found");
  expect(queries.select({ agent: [""] })).toEqual([]);
});

test("records are cached until a write, even one that is rolled back", () => {
  const db = openDatabase(":memory:");
  const journal = new Journal({ db, projections: [sessionsProjection], machineName: "box" });
  const queries = new SessionQueries(db);
  const session = "abcdefghij" as SessionId;
  const about = { actor: ACTOR, session };
  const rename = (name: string) => journal.append({ ...about, type: "session.renamed", data: { from: "", name } });
  expect(queries.get(session)).toBeUndefined();
  const data = {
    name: "one",
    kind: "shell",
    agent: "shell",
    role: null,
    objective: null,
    host: "tmux",
    cwd: "/",
    command: ["sh"],
  } as const;
  journal.append({ ...about, type: "session.created", data: { ...data, command: ["sh"] } });
  expect(queries.get(session)?.name).toBe("one");
  expect(queries.get(session)).toBe(queries.get(session));
  rename("two");
  expect([queries.get(session)?.name, queries.byName("one"), queries.byName("two")?.id]).toEqual(["two", undefined, session]);
  db.exec("BEGIN");
  db.prepare("UPDATE sessions SET name = 'never'").run();
  expect(queries.get(session)?.name).toBe("never");
  db.exec("ROLLBACK");
  expect([queries.get(session)?.name, queries.byName("never")]).toEqual(["two", undefined]);
  db.close();
});
