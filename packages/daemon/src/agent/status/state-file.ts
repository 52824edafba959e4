/** An agent's own state file. It is read with each look at the screen, which changes when the file does. */
import type { Evidence } from "@holdfast/contract";
import { readJsonFile } from "@holdfast/platform";
import { claimOf, type FieldRule, fits, textAt } from "../hooks/hook-rules.ts";

export interface StateFile {
  path(run: { pid: number; env: Readonly<Record<string, string>> }): string;
  /** Path of the time of the last change, in milliseconds since 1970. */
  since: string;
  /** Path of the agent's own id of the conversation. */
  conversation?: string;
  /** Path of the text for `explain`. */
  says: string;
  rules: readonly FieldRule[];
}

/** It is read at every change, so the agent must not be able to make that slow. */
export const LARGEST_STATE = 64 << 10;

/** Undefined if there is no file, no rule fits, or a program with the same pid wrote it before `startedAt`. */
export function readStateFile(
  file: StateFile,
  run: { pid: number; env: Readonly<Record<string, string>>; startedAt: string },
): Evidence | undefined {
  const state = readJsonFile(file.path(run), LARGEST_STATE);
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

/** The agent's times may be a little earlier than Holdfast's. */
const CLOCK_MS = 1000;
