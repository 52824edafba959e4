import type { RestoreReport, SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { noticeOf } from "./restore-notice.ts";

const REPORT: RestoreReport = {
  why: "damaged",
  what: "its write-ahead log is damaged: 1 transaction cannot be read",
  backup: { name: "20261115T111649876Z-240-timer", at: "2026-11-15T11:16:49.876Z" },
  salvaged: false,
  seq: 241,
  recovered: 1,
  lost: { until: 242 },
  previousEpoch: "39382343",
  sessions: { rebuilt: [], removed: [], unreadable: [] },
  setAside: "/home/me/damaged/1",
};

const named = (name: string) => ({ id: name as SessionId, name });

test("a notice says in whole sentences what happened, what exists, what is lost and what to do next", () => {
  const sessions = { rebuilt: [named("a"), named("b")], removed: [named("c")], unreadable: ["dddddddddd"] };
  expect(noticeOf({ ...REPORT, sessions })).toEqual([
    "The journal's database was damaged (its write-ahead log is damaged: 1 transaction cannot be read) and was replaced. Running sessions were not touched.",
    "The backup 20261115T111649876Z-240-timer was restored, with 1 later event that could still be read. Event 242 is lost.",
    "Rebuilt from their files: a, b; whether they had been stopped or viewed may be lost.",
    "Removed, because their files are gone: c.",
    "Left alone in sessions/, because their files cannot be read: dddddddddd.",
    "The old files are in /home/me/damaged/1: delete them when you miss nothing.",
    "Check your sessions: holdfast ls --all. List older backups: holdfast backup ls.",
  ]);
});

test.each(["missing", "empty"])("a database that is %s is not called damaged", (how) => {
  const [first] = noticeOf({ ...REPORT, what: `it is ${how}` });
  expect(first).toBe(`The journal's database was ${how} and was replaced. Running sessions were not touched.`);
});

test.each<[Partial<RestoreReport>, string]>([
  [{ lost: { until: 300 } }, "Events 242 to 300 are lost."],
  [{ lost: { until: 241 } }, "No event is known to be lost."],
  [{ lost: { until: null } }, "It is not known whether there were events after event 241."],
  [{ salvaged: true, backup: null, lost: { until: 241 } }, "Everything that could still be read was kept. No event is known to be lost."],
  [
    { backup: null, seq: 0, lost: { until: null } },
    "There was no backup: sessions were rebuilt from their files alone, and their history is lost.",
  ],
])("a notice says what was kept and what is lost: %j", (how, says) => {
  const lines = noticeOf({ ...REPORT, ...how });
  expect(lines[1]).toMatch(new RegExp(`${says.replace(/[.]/g, "\\.")}$`));
  for (const line of lines) expect(line).toMatch(/^[A-Z].*\.$/);
});
