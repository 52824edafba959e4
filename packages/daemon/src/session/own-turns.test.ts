import { appendFileSync, mkdirSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Profiles } from "../agent/profiles/index.ts";
import type { SessionRecord } from "../projection/session-queries.ts";
import type { StatusFollower } from "./agent-status.ts";
import { ownTurns } from "./own-turns.ts";

const CONVERSATION = "7d3a1b52-0000-4000-8000-000000000000";

function sessionOf(turns: number, turn: "idle" | null = "idle"): SessionRecord {
  const conversations = [{ id: CONVERSATION, run: 1, since: "", turns: turns === 0 ? null : turns }];
  const record = { id: "s", kind: "terminal", agent: "gemini", conversation: CONVERSATION, cwd: "/", run: 1, turns, conversations };
  return { ...record, standing: turn && { turn } } as unknown as SessionRecord;
}

test("a turn that its files told of before its screen is counted once (mend 11)", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const folder = join(directory.path, ".gemini/tmp/app/chats");
  mkdirSync(folder, { recursive: true });
  const say = (id: string) =>
    appendFileSync(join(folder, "session-2026-11-14T05-00-7d3a1b52.jsonl"), `${JSON.stringify({ id, type: "user", content: [] })}\n`);
  const follow = ownTurns({ profiles: new Profiles(), envOf: () => ({ HOME: directory.path }) });
  const counts = (record: SessionRecord, more: Partial<Parameters<StatusFollower>[0]> = {}) =>
    follow({ record, evidence: [], seen: {}, ...more } as Parameters<StatusFollower>[0]).map(({ data }) => data);
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
