import type { Evidence } from "@holdfast/contract";
import { expect, test } from "vitest";
import { Profiles } from "../agent/profiles/index.ts";
import type { ApprovalRecord } from "../projection/approvals.ts";
import { isOver } from "./over.ts";

const approval = { id: "a", for: "approval", tool: "Bash", input: {}, requestedAt: at(0) } as ApprovalRecord;
const asked: Evidence = { source: "hook", at: at(0), claim: { turn: "working", attention: wants("approval") }, what: "" };

function at(seconds: number): string {
  return new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
}

function wants(what: "approval") {
  return { for: what, text: null, until: null };
}

function screen(seconds: number, attention: Evidence["claim"]["attention"]): Evidence {
  return { source: "screen", at: at(seconds), claim: { turn: "working", attention }, what: "", settled: true };
}

function over(agent: string, looks: Evidence[]): boolean {
  const channel = new Profiles().get(agent).approvals?.hook;
  if (!channel) throw new Error("no hook");
  const shown = new Set<string>();
  return looks.map((look) => isOver(approval, { signal: undefined, evidence: [asked, look], channel, shown })).at(-1) ?? false;
}

test("a prompt that has disappeared from the screen was answered there", () => {
  expect(over("claude", [screen(1, wants("approval")), screen(3, null)])).toBe(true);
  expect(over("claude", [screen(1, wants("approval")), screen(3, wants("approval"))])).toBe(false);
});

test("a prompt that is not on the screen yet may still be drawn, for a limited time", () => {
  expect(over("claude", [screen(3, null)])).toBe(false);
  expect(over("claude", [screen(40, null)])).toBe(true);
});

test("the screen does not count if the hook hides the prompt or itself ends at an answer", () => {
  for (const agent of ["codex", "qwen", "opencode"])
    expect(over(agent, [screen(1, wants("approval")), screen(40, null)]), agent).toBe(false);
});
