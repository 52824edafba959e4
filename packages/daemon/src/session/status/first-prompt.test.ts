import { expect, test } from "vitest";
import type { Signal } from "../../agent/hooks/hook-rules.ts";
import type { SessionRecord } from "../../projection/session-queries.ts";
import { firstPrompt } from "./first-prompt.ts";

const RECORD = { id: "aaaaaaaaaa", run: 2, objective: null, firstPrompt: null };

function told(prompt: string | null, record: object = {}) {
  return firstPrompt({ record: { ...RECORD, ...record } as SessionRecord, evidence: [], signal: { prompt } as Signal });
}

test("the first prompt that an agent reports is recorded, cut to a length that a list can show", () => {
  expect(told(" fix it\nnow ")).toMatchObject([{ type: "session.first_prompted", data: { run: 2, text: "fix it\nnow" } }]);
  expect(told("x".repeat(600))).toMatchObject([{ data: { text: "x".repeat(500) } }]);
});

test("nothing is recorded without a prompt, with an objective, or once a prompt is known", () => {
  expect([told(null), told("  "), told("fix", { objective: "o" }), told("fix", { firstPrompt: "f" })]).toEqual([[], [], [], []]);
});
