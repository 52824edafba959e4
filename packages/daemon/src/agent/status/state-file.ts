/** A file in which an agent keeps what it is doing: read when its screen is looked at, which changes when the file does. */
import type { Evidence } from "@holdfast/contract";
import { readJsonFile } from "@holdfast/platform";
import { claimOf, type FieldRule, fits, textAt } from "../hooks/hook-rules.ts";

export interface StateFile {
  path(run: { pid: number; env: Readonly<Record<string, string>> }): string;
  /** Where it says since when, in milliseconds since 1970. */
  since: string;
  /** Where it says the agent's own id of the conversation. */
  conversation?: string;
  /** Where its text is, in `explain`. */
  says: string;
  rules: readonly FieldRule[];
}

/** Undefined when there is none, it says nothing, or it is of a program that had the same pid before `startedAt`. */
export function readStateFile(
  file: StateFile,
  run: { pid: number; env: Readonly<Record<string, string>>; startedAt: string },
): Evidence | undefined {
  const state = readJsonFile(file.path(run));
  const since = Number(textAt(state, file.since));
  if (!Number.isFinite(since) || since < Date.parse(run.startedAt) - CLOCK_MS) return undefined;
  const rule = file.rules.find((rule) => fits(rule, state));
  if (!rule) return undefined;
  // The clock may have been set back since.
  const at = new Date(Math.min(since, Date.now())).toISOString();
  return {
    source: "state_file",
    at,
    claim: claimOf(rule, state, { text: rule.text === undefined ? null : (textAt(state, rule.text) ?? null), at }),
    what: `it says ${textAt(state, file.says)}`,
  };
}

/** The agent may take its time a little before ours. */
const CLOCK_MS = 1000;
