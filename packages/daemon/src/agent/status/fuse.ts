/**
 * What an agent is doing, from all that is known. Pure.
 *
 * For each axis: the newest evidence of the most trusted source that says something about it, unless a less trusted source has
 * seen otherwise later and for good. That is how the screen corrects a "working" that no hook ever ended (Esc fires none), and how it
 * does not while a last frame of a spinner is still drawn after the hook that ended the turn.
 */
import { type Attention, type Claim, type Evidence, SOURCES, type Turn } from "./evidence.ts";

export interface Believed<T> {
  value: T;
  evidence: Evidence;
}

export interface Standing {
  /** undefined: unknown. */
  turn: Believed<Turn> | undefined;
  attention: Believed<Attention | null> | undefined;
  background: Believed<boolean> | undefined;
}

/** What a screen shows within this time after a hook may have been on its way before it. */
export const REDRAW_MS = 500;

export function fuse(evidence: readonly Evidence[]): Standing {
  return { turn: believe(evidence, "turn"), attention: believe(evidence, "attention"), background: believe(evidence, "background") };
}

function believe<A extends keyof Claim>(all: readonly Evidence[], axis: A): Believed<Exclude<Claim[A], undefined>> | undefined {
  let believed: Evidence | undefined;
  for (const source of SOURCES) {
    const newest = newestOf(all, source, axis);
    if (newest && (!believed || corrects(newest, believed))) believed = newest;
  }
  return believed && { value: believed.claim[axis] as Exclude<Claim[A], undefined>, evidence: believed };
}

function newestOf(all: readonly Evidence[], source: string, axis: keyof Claim): Evidence | undefined {
  let newest: Evidence | undefined;
  for (const evidence of all) {
    if (evidence.source !== source || evidence.claim[axis] === undefined) continue;
    if (!newest || evidence.at >= newest.at) newest = evidence;
  }
  return newest;
}

/** Whether a less trusted source is to be believed all the same. A structured protocol is never corrected. */
function corrects(less: Evidence, more: Evidence): boolean {
  return more.source !== "protocol" && less.settled === true && less.at > more.at + REDRAW_MS;
}

/** One word for people, of a terminal agent whose process runs. */
export function statusOf({ turn, attention }: Standing): "working" | "waiting" | "idle" | "unknown" {
  if (attention?.value) return "waiting";
  return turn?.value ?? "unknown";
}

/** Lines for a person: what is believed of each axis, why, and what was seen besides. */
export function explain(evidence: readonly Evidence[], now: number): string[] {
  const standing = fuse(evidence);
  const lines = [
    `turn: ${said(standing.turn, (value) => value, now)}`,
    `attention: ${said(standing.attention, (value) => (value ? `waits for ${words(value.for)}${value.text ? ` (${value.text})` : ""}` : "none"), now)}`,
    `background: ${said(standing.background, (value) => (value ? "something runs" : "nothing runs"), now)}`,
  ];
  const used = new Set([standing.turn, standing.attention, standing.background].map((believed) => believed?.evidence));
  const others = evidence.filter((one) => !used.has(one)).sort((a, b) => b.at - a.at);
  return [...lines, ...others.map((one) => `not decisive: ${one.source.replace("_", " ")}, ${age(one, now)}: ${one.what}`)];
}

function said<T>(believed: Believed<T> | undefined, name: (value: T) => string, now: number): string {
  if (!believed) return "unknown: nothing says so";
  const { evidence } = believed;
  return `${name(believed.value)}, by ${evidence.source.replace("_", " ")}, ${age(evidence, now)}: ${evidence.what}`;
}

function age({ at }: Evidence, now: number): string {
  return `${Math.max(0, Math.round((now - at) / 1000))} s ago`;
}

function words(wait: string): string {
  return wait.replace("_", " ");
}
