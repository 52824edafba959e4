/**
 * Fuses all evidence into an agent's standing. Pure.
 *
 * For each axis the newest evidence of the most trusted source counts, unless a less trusted source contradicts it later and is settled. So the
 * screen can correct a "working" that no hook ended (Esc fires none), but not while the last frame of a spinner is still drawn after the hook that
 * ended the turn.
 */
import { type Attention, type Claim, type Evidence, type EvidenceSource, type Explanation, SOURCES, type Turn } from "@holdfast/contract";
import { newestOf } from "./evidence.ts";

export interface Believed<T> {
  value: T;
  evidence: Evidence;
}

export interface Standing {
  /** null: unknown. */
  turn: Believed<Turn> | null;
  attention: Believed<Attention | null> | null;
  background: Believed<boolean> | null;
}

/** A screen seen this soon after a hook may have been drawn before it. */
export const REDRAW_MS = 500;
/** On a busy machine an agent may draw the beginning or end of a turn this long after it reported it. */
export const SLOW_REDRAW_MS = 2500;
/** A limit on the screen belongs to the running turn. Only its last frame may remain when the next turn begins. */
export const LIMIT_REDRAW_MS = 150;

/** For background work, processes rank above the screen: they end before the agent draws it. */
const BY_PROCESSES: readonly EvidenceSource[] = ["protocol", "hook", "state_file", "processes", "title", "screen"];

export function fuse(evidence: readonly Evidence[]): Standing {
  const attention = believe(evidence, "attention");
  return {
    turn: believe(evidence, "turn"),
    attention: attention && inWords(attention, evidence),
    background: believe(evidence, "background"),
  };
}

/** A state file may say that the agent waits, and only the screen for what. */
function inWords({ value, evidence }: Believed<Attention | null>, all: readonly Evidence[]): Believed<Attention | null> {
  if (value === null || value.text !== null) return { value, evidence };
  const telling = SOURCES.map((source) => newestOf(all, source, "attention")?.claim.attention);
  const text = telling.find((attention) => attention?.for === value.for && attention.text !== null)?.text ?? null;
  return { value: { ...value, text }, evidence };
}

function believe<A extends keyof Claim>(all: readonly Evidence[], axis: A): Believed<Exclude<Claim[A], undefined>> | null {
  let believed: Evidence | undefined;
  for (const source of axis === "background" ? BY_PROCESSES : SOURCES) {
    const newest = newestOf(all, source, axis);
    if (newest && (!believed || (differs(newest, believed, axis) && corrects(newest, believed, axis)))) believed = newest;
  }
  return believed ? { value: believed.claim[axis] as Exclude<Claim[A], undefined>, evidence: believed } : null;
}

/** The same claim in other words is no news: the more trusted source knows better what the agent waits for. */
function differs(a: Evidence, b: Evidence, axis: keyof Claim): boolean {
  const value = ({ claim }: Evidence) => (axis === "attention" ? (claim.attention?.for ?? null) : claim[axis]);
  return value(a) !== value(b);
}

/** True if a less trusted source overrides a more trusted one. A structured protocol is never corrected. */
function corrects(less: Evidence, more: Evidence, axis: keyof Claim): boolean {
  if (more.source === "protocol" || more.held) return false;
  const { attention } = more.claim;
  // An idle composer does not disprove a limit, nor does anything before the announced end of the limit.
  const isLimit = axis === "attention" && attention?.for === "rate_limit";
  if (isLimit && (less.claim.turn === "idle" || Date.parse(less.at) < Date.parse(attention.until ?? ""))) return false;
  const isFile = less.source === "state_file";
  const showsLimit = axis === "attention" && less.claim.attention?.for === "rate_limit";
  const late = showsLimit ? LIMIT_REDRAW_MS : axis === "turn" && !isFile ? SLOW_REDRAW_MS : REDRAW_MS;
  return (less.settled === true || isFile) && Date.parse(less.at) > Date.parse(more.at) + late;
}

/** The status of a terminal agent whose process runs. */
export function statusOf({ turn, attention }: Standing): "working" | "waiting" | "idle" | "unknown" {
  if (attention?.value) return "waiting";
  return turn?.value ?? "unknown";
}

/** The believed value of each axis with its evidence, and all other evidence, newest first. */
export function explain(evidence: readonly Evidence[]): Omit<Explanation, "sources" | "unread" | "newer"> {
  const standing = fuse(evidence);
  const used = new Set(Object.values(standing).map((believed) => believed?.evidence));
  const others = evidence.filter((one) => !used.has(one)).sort((a, b) => b.at.localeCompare(a.at));
  return { ...standing, others };
}
