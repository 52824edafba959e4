import { mkdirSync, mkdtempDisposableSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENDPOINTS, type Principal, type SessionId } from "@holdfast/contract";
import { openHome, runDirectory } from "@holdfast/platform";
import { expect, test } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { type Draft, Journal } from "../journal/journal.ts";
import { removal } from "../projection/removal.ts";
import { SessionQueries } from "../projection/session-queries.ts";
import { sessionsProjection } from "../projection/sessions.ts";
import { TokenQueries, tokensProjection } from "../projection/tokens.ts";
import { Access } from "./access.ts";
import { auditEntries } from "./audit.ts";
import { refusal } from "./identity.ts";
import { DAEMON, osUser } from "./principal.ts";
import { resolveWithin } from "./reach.ts";
import { Refusals } from "./refusals.ts";
import { hashFile, newRunToken } from "./run-token.ts";
import { hashOf, holderOf, newSecret } from "./secret.ts";
import { Tokens } from "./tokens.ts";

const OWNER = "user:tester" as Principal;
const ROOT = "aaaaaaaaaa" as SessionId;
const CHILD = "bbbbbbbbbb" as SessionId;
const GRANDCHILD = "bcbbbbbbbb" as SessionId;
const OTHER = "cccccccccc" as SessionId;

class Rooms implements Disposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  readonly home = openHome({ HOLDFAST_HOME: this.#directory.path });
  readonly db = openDatabase(":memory:");
  readonly journal: Journal;
  readonly queries = new SessionQueries(this.db);
  readonly tokenQueries = new TokenQueries(this.db);
  readonly refusals: Refusals;
  readonly tokens: Tokens;
  readonly access: Access;
  now = Date.parse("2026-01-01T00:00:00Z");

  constructor() {
    const clock = () => this.now;
    this.journal = new Journal({ db: this.db, projections: [sessionsProjection, tokensProjection], machineName: "box", clock });
    this.refusals = new Refusals({ journal: this.journal, clock });
    this.tokens = new Tokens({ home: this.home, journal: this.journal, queries: this.tokenQueries, clock });
    this.access = new Access({
      home: this.home,
      queries: this.queries,
      tokens: this.tokenQueries,
      refusals: this.refusals,
      clock,
      onExpired: () => this.tokens.expire(),
    });
  }

  start(session: SessionId, name: string, parent: SessionId | null = null): string {
    mkdirSync(runDirectory(this.home, session, 1), { recursive: true });
    const token = newRunToken(this.home, { session, run: 1 });
    this.journal.append(created(session, name, parent), started(session));
    return token;
  }

  as(token: string) {
    return this.access.identify(`Bearer ${token}`, { open: true });
  }

  refused(token: string): string {
    try {
      this.as(token);
    } catch (error) {
      expect(error).toMatchObject({ code: "unauthenticated" });
      return (error as Error).message;
    }
    throw new Error("it was let in");
  }

  [Symbol.dispose](): void {
    this.db.close();
    this.#directory.remove();
  }
}

function created(session: SessionId, name: string, parent: SessionId | null): Draft {
  const data = {
    name,
    kind: "shell",
    agent: "shell",
    role: null,
    objective: null,
    host: "tmux",
    cwd: "/",
    command: ["sh"],
    parent,
  } as const;
  return { type: "session.created", actor: OWNER, session, data: { ...data, command: ["sh"] } };
}

function started(session: SessionId, run = 1): Draft {
  return { type: "session.started", actor: DAEMON, session, data: { run, pid: 7, pidStart: "x", outputPath: "/out" } };
}

function ended(session: SessionId): Draft {
  const data = {
    run: 1,
    exit: { code: 0, signal: null },
    cause: "exited",
    endedAt: "2026-01-01T00:00:00.000Z",
    lastActivityAt: null,
    bytes: 0,
  } as const;
  return { type: "session.ended", actor: DAEMON, session, data };
}

test("a token has 256 random bits after the name of its holder, and a malformed token has no holder", () => {
  const texts = new Set(Array.from({ length: 100 }, () => newSecret({ token: ROOT })));
  expect(texts.size).toBe(100);
  for (const text of texts) {
    expect(Buffer.from(text.slice(-43), "base64url")).toHaveLength(32);
    expect(holderOf(text)).toEqual({ token: ROOT });
  }
  expect(holderOf(newSecret({ session: ROOT, run: 12 }))).toEqual({ session: ROOT, run: 12 });
  const good = newSecret({ token: ROOT });
  for (const wrong of ["", "x", good.slice(1), `${good}A`, ` ${good}`, good.replace("hft", "hfs"), "hfs_../../etc-1_x"])
    expect(holderOf(wrong)).toBeUndefined();
  expect(hashOf("a")).toBe("ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb");
});

test("the hint for too small a scope is to unset the token where none is needed, and to replace it elsewhere", () => {
  using rooms = new Rooms();
  const { token } = rooms.tokens.create({ name: "ci", scope: "observer" }, OWNER);
  const hint = (open: boolean) =>
    refusal(rooms.access.identify(`Bearer ${token}`, { open }), "stopSession", ENDPOINTS.stopSession)?.error.hint;
  expect(hint(true)).toBe("act as yourself: unset HOLDFAST_TOKEN; or create a token of that scope: holdfast token create --scope driver");
  expect(hint(false)).toBe("use a token of that scope: holdfast token create --scope driver");
});

test("a request without a token is the user's on the socket, and refused elsewhere", () => {
  using rooms = new Rooms();
  expect(rooms.access.identify(undefined, { open: true })).toMatchObject({ actor: osUser(), scope: "owner", reach: undefined });
  expect(() => rooms.access.identify(undefined, { open: false })).toThrow(expect.objectContaining({ code: "unauthenticated" }));
  for (const wrong of ["", "Bearer", "Bearer ", "Basic eDp5", "hft_x", "Bearer a b"]) {
    expect(() => rooms.access.identify(wrong, { open: true }), wrong).toThrow(expect.objectContaining({ code: "unauthenticated" }));
  }
});

test("a named token acts under its name until the millisecond it expires or is revoked", () => {
  using rooms = new Rooms();
  const { id, token, expiresAt } = rooms.tokens.create({ scope: "driver", name: "ci", expiresInMs: 1000 }, OWNER);
  expect(expiresAt).toBe("2026-01-01T00:00:01.000Z");
  const identity = rooms.as(token);
  expect(identity).toMatchObject({ actor: "token:ci", scope: "driver", reach: undefined });
  rooms.now += 999;
  expect(identity.isValid()).toBe(true);
  rooms.now += 1;
  expect(identity.isValid()).toBe(false);
  expect(rooms.refused(token)).toBe("the token ci has expired");

  const other = rooms.tokens.create({ scope: "observer" }, OWNER);
  expect(other.name).toBe(other.id);
  expect(rooms.as(other.token).isValid()).toBe(true);
  const open = rooms.as(other.token);
  rooms.tokens.revoke(other.id, OWNER);
  expect(open.isValid()).toBe(false);
  expect(rooms.refused(other.token)).toContain("was revoked");
  expect(rooms.refused(newSecret({ token: id }))).toBe("there is no such token");
  expect(JSON.stringify(rooms.journal.readAfter(0, 100))).not.toContain(token.slice(-43));
});

test("a name belongs to one token at a time, and is never another token's id", () => {
  using rooms = new Rooms();
  const first = rooms.tokens.create({ scope: "driver", name: "ci" }, OWNER);
  expect(() => rooms.tokens.create({ scope: "driver", name: "ci" }, OWNER)).toThrow(expect.objectContaining({ code: "name_taken" }));
  expect(() => rooms.tokens.create({ scope: "driver", name: first.id }, OWNER)).toThrow(expect.objectContaining({ code: "name_taken" }));
  expect(() => rooms.tokens.create({ scope: "driver", name: "a b" }, OWNER)).toThrow(expect.objectContaining({ code: "invalid_name" }));
  rooms.tokens.revoke("ci", OWNER);
  expect(() => rooms.tokens.revoke("ci", OWNER)).toThrow(expect.objectContaining({ code: "token_not_found" }));
  const second = rooms.tokens.create({ scope: "observer", name: "ci" }, OWNER);
  expect(rooms.as(second.token).scope).toBe("observer");
  rooms.refused(first.token);
});

test("a revoked token stays revoked in a journal older than the revocation", () => {
  using rooms = new Rooms();
  const kept = rooms.tokens.create({ scope: "driver", name: "kept" }, OWNER);
  const gone = rooms.tokens.create({ scope: "driver", name: "gone" }, OWNER);
  rooms.tokens.revoke("gone", OWNER);
  // As in a backup from before the revocation.
  rooms.db.exec("UPDATE tokens SET revoked_at = NULL; DELETE FROM events WHERE type = 'token.revoked'");
  expect(rooms.as(gone.token).isValid()).toBe(true);
  rooms.tokens.begin();
  rooms.refused(gone.token);
  expect(rooms.as(kept.token).isValid()).toBe(true);
  rooms.tokens.begin();
  // The event is also found by its actor, in the database.
  expect(rooms.journal.readAfter(0, 10, { types: ["token.revoked"], actors: [DAEMON] })).toMatchObject([
    { actor: DAEMON, data: { name: "gone" } },
  ]);
});

test("an expired token stays expired when the clock is set back, used or not (mend 8)", () => {
  using rooms = new Rooms();
  const began = rooms.now;
  const used = rooms.tokens.create({ scope: "driver", name: "used", expiresInMs: 60_000 }, OWNER);
  const unused = rooms.tokens.create({ scope: "driver", name: "unused", expiresInMs: 60_000 }, OWNER);
  const later = rooms.tokens.create({ scope: "driver", name: "later", expiresInMs: 3_600_000 }, OWNER);
  rooms.now += 60_000;
  expect(rooms.refused(used.token)).toContain("has expired");
  rooms.now = began;
  expect(rooms.refused(used.token)).toContain("has expired");
  expect(rooms.refused(unused.token)).toContain("has expired");
  expect(rooms.as(later.token).isValid()).toBe(true);
  const told = rooms.journal.readAfter(0, 10, { types: ["token.expired"] });
  expect(told.map(({ actor, data }) => ({ actor, data }))).toEqual([
    { actor: DAEMON, data: { id: used.id, name: "used" } },
    { actor: DAEMON, data: { id: unused.id, name: "unused" } },
  ]);
  // The next daemon, and one on a journal from before the expiry.
  rooms.tokens.begin();
  expect(rooms.refused(used.token)).toContain("has expired");
  rooms.db.exec("UPDATE tokens SET expired = 0; DELETE FROM events WHERE type = 'token.expired'");
  rooms.tokens.begin();
  rooms.refused(used.token);
  expect(rooms.as(later.token).isValid()).toBe(true);
});

test("a run's token acts as its session only while that run lives", () => {
  using rooms = new Rooms();
  const token = rooms.start(ROOT, "root");
  const file = hashFile(rooms.home, { session: ROOT, run: 1 });
  expect(readFileSync(file, "utf8")).toBe(`${hashOf(token)}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const identity = rooms.as(token);
  expect(identity).toMatchObject({ actor: `session:${ROOT}`, scope: "driver", reach: ROOT });
  rooms.refused(newSecret({ session: ROOT, run: 1 }));
  rooms.refused(newSecret({ session: ROOT, run: 2 }));
  rooms.journal.append(ended(ROOT));
  expect(identity.isValid()).toBe(false);
  rooms.refused(token);
  rooms.journal.append({ type: "session.run_created", actor: DAEMON, session: ROOT, data: { run: 2, why: "restart" } }, started(ROOT, 2));
  expect(identity.isValid()).toBe(false);
  rooms.refused(token);
});

test("a run without its hash file has no valid token", () => {
  using rooms = new Rooms();
  const token = rooms.start(ROOT, "root");
  rmSync(hashFile(rooms.home, { session: ROOT, run: 1 }));
  rooms.refused(token);
});

test("a session can name only itself and its descendants, and sees no other names", () => {
  using rooms = new Rooms();
  rooms.start(ROOT, "root");
  rooms.start(CHILD, "child", ROOT);
  rooms.start(GRANDCHILD, "grandchild", CHILD);
  rooms.start(OTHER, "other");
  const meant = (ref: string) => resolveWithin(rooms.queries, ROOT, ref).name;
  expect([ROOT, "root", "child", "grandchild", GRANDCHILD, "bb", "a"].map(meant)).toEqual([
    "root",
    "root",
    "child",
    "grandchild",
    "grandchild",
    "child",
    "root",
  ]);
  for (const ref of ["other", OTHER])
    expect(() => meant(ref)).toThrow(expect.objectContaining({ code: "forbidden", hint: expect.any(String) }));
  for (const ref of ["othr", "c", "", "%"]) {
    expect(() => meant(ref), ref).toThrow(
      expect.objectContaining({ code: "session_not_found", candidates: ["root", "child", "grandchild"] }),
    );
  }
  expect(() => meant("b")).toThrow(expect.objectContaining({ code: "session_ambiguous", candidates: ["child", "grandchild"] }));
  expect(() => resolveWithin(rooms.queries, CHILD, "root")).toThrow(expect.objectContaining({ code: "forbidden" }));
});

test("children of a removed session move to its parent, and the parent sees those events", () => {
  using rooms = new Rooms();
  rooms.start(ROOT, "root");
  rooms.start(CHILD, "child", ROOT);
  rooms.start(GRANDCHILD, "grandchild", CHILD);
  rooms.start(OTHER, "other");
  const remove = (id: SessionId) => removal(rooms.queries, rooms.queries.resolve(id), { actor: OWNER });
  rooms.journal.append(ended(CHILD), ...remove(CHILD));
  expect(rooms.queries.descendants(ROOT)).toEqual([ROOT, GRANDCHILD]);
  const seen = rooms.journal.readAfter(0, 100, { within: () => rooms.queries.descendants(ROOT) });
  expect(seen.map(({ type, session }) => `${session} ${type}`)).toEqual([
    `${ROOT} session.created`,
    `${ROOT} session.started`,
    `${GRANDCHILD} session.created`,
    `${GRANDCHILD} session.started`,
    `${GRANDCHILD} session.reparented`,
    `${CHILD} session.removed`,
  ]);
  rooms.journal.append(ended(ROOT), ...remove(ROOT));
  expect(rooms.queries.get(GRANDCHILD)?.parent).toBeNull();
});

test("a repeated refusal is counted, and recorded again with the count after a minute", () => {
  using rooms = new Rooms();
  const actor = "token:ci" as Principal;
  const note = () => rooms.refusals.note(actor, { endpoint: "spawn", why: "needs driver" });
  for (let i = 0; i < 1000; i++) note();
  rooms.refusals.note(actor, { endpoint: "shutdown", why: "needs owner" });
  rooms.now += 60_000;
  note();
  // A clock that was set back does not suppress the refusal.
  rooms.now -= 3_600_000;
  note();
  const told = rooms.journal.readAfter(0, 100).map(({ data }) => [data.endpoint, data.more]);
  expect(told).toEqual([
    ["spawn", 0],
    ["shutdown", 0],
    ["spawn", 999],
    ["spawn", 0],
  ]);
});

test("the audit describes each action of anybody but the daemon, with the session's name at that time", () => {
  using rooms = new Rooms();
  rooms.start(ROOT, "root");
  rooms.journal.append(
    { type: "session.input_requested", actor: OWNER, session: ROOT, data: { run: 1, bytes: 5, keys: null } },
    { type: "session.renamed", actor: OWNER, session: ROOT, data: { from: "root", name: "renamed" } },
    { type: "session.input_requested", actor: "token:ci" as Principal, session: ROOT, data: { run: 1, bytes: null, keys: 1 } },
    { type: "message.queued", actor: OWNER, session: ROOT, data: { id: "m", text: "a secret", steer: false } },
    { type: "message.cancelled", actor: OWNER, session: ROOT, data: { id: "m" } },
  );
  rooms.now += 60_000;
  rooms.tokens.create({ scope: "driver", name: "ci" }, OWNER);
  const words = (query: Partial<Parameters<typeof auditEntries>[1]> = {}) =>
    auditEntries(rooms.journal, { seq: 0, limit: 100, ...query }).map(({ actor, what }) => `${actor} ${what}`);
  expect(words()).toEqual([
    "user:tester started root (shell)",
    "user:tester typed 5 bytes into root",
    "user:tester renamed root to renamed",
    "token:ci pressed 1 key in renamed",
    "user:tester sent the message m to renamed",
    "user:tester took back the message m to renamed",
    "user:tester created the token ci (driver)",
  ]);
  expect(words({ actors: ["token:ci"] })).toEqual(["token:ci pressed 1 key in renamed"]);
  expect(words({ since: rooms.now })).toEqual(["user:tester created the token ci (driver)"]);
  expect(words({ limit: 1 })).toHaveLength(1);
});
