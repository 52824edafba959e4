import { appendFileSync, mkdirSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Profiles } from "../../agent/profiles/index.ts";
import type { SessionRecord } from "../../projection/session-queries.ts";
import type { StatusFollower } from "./agent-status.ts";
import { ownTurns } from "./own-turns.ts";

const CONVERSATION = "7d3a1b52-0000-4000-8000-000000000000";

function sessionOf(turns: number, turn: "idle" | null = "idle"): SessionRecord {
  const conversations = [{ id: CONVERSATION, run: 1, since: "", turns: turns === 0 ? null : turns }];
  const record = { id: "s", kind: "terminal", agent: "gemini", conversation: CONVERSATION, cwd: "/", run: 1, turns, conversations };
  return { ...record, createdAt: "2026-11-14T05:00:00.000Z", standing: turn && { turn } } as unknown as SessionRecord;
}

interface Told {
  home: string;
  id: string;
  at?: string;
}

function tell({ home, id, at }: Told): void {
  const folder = join(home, ".gemini/tmp/app/chats");
  mkdirSync(folder, { recursive: true });
  const line = JSON.stringify({ id, type: "user", content: [{ text: id }], timestamp: at });
  appendFileSync(join(folder, "session-2026-11-14T05-00-7d3a1b52.jsonl"), `${line}\n`);
}

test("turns of the original are not counted in a copy (truth 6)", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const home = directory.path;
  const follow = ownTurns({ profiles: new Profiles(), envOf: () => ({ HOME: home }) });
  const counts = (record: SessionRecord) =>
    follow({ record, evidence: [], seen: { settled: true } } as unknown as Parameters<StatusFollower>[0]).map(({ data }) => data);
  tell({ home, id: "of the original", at: "2026-11-14T04:59:00.000Z" });
  expect(counts(sessionOf(0))).toEqual([]);
  tell({ home, id: "its own", at: "2026-11-14T05:00:20.000Z" });
  expect(counts(sessionOf(0))).toMatchObject([{ turns: 1, missed: 1 }]);
});

test("a turn that the files showed before the screen is counted once (mend 11)", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const say = (id: string) => tell({ home: directory.path, id });
  const follow = ownTurns({ profiles: new Profiles(), envOf: () => ({ HOME: directory.path }) });
  const counts = (record: SessionRecord, more: Partial<Parameters<StatusFollower>[0]> = {}) =>
    follow({ record, evidence: [], seen: { settled: true }, ...more } as Parameters<StatusFollower>[0]).map(({ data }) => data);
  const began = { changed: { turn: "working", turnBegan: true } } as unknown as Partial<Parameters<StatusFollower>[0]>;

  say("u1");
  expect(counts(sessionOf(0, null))).toEqual([]);
  expect(counts(sessionOf(0))).toMatchObject([{ turns: 1, missed: 1 }]);
  expect(counts(sessionOf(1), began)).toMatchObject([{ turns: 0, missed: -1 }]);
  say("u2");
  expect(counts(sessionOf(1), began)).toEqual([]);
  expect(counts(sessionOf(2))).toEqual([]);
  say("u3");
  expect(counts(sessionOf(2, null), { seen: undefined } as object)).toMatchObject([{ turns: 3, missed: 1 }]);
});
