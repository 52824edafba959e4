/**
 * Restores from the journal the turns that a damaged transcript has lost: the prompt, the answer and how each ended, but not tools and thoughts. They are
 * put back in their place among the entries that can still be read.
 */
import { type AnyEvent, type Entry, Principal, parseEntry, TRANSCRIPT_VERSION, TURN_ENDS } from "@holdfast/contract";

export const TURN_EVENTS = ["turn.started", "turn.ended", "message.queued", "message.replied"] as const;

export interface KnownTurn {
  id: string;
  at: string;
  endedAt: string;
  from: Principal;
  text: string;
  reply: string;
  reason: (typeof TURN_ENDS)[number];
}

/** Ended turns of a run, in order. */
export function knownTurns(events: readonly AnyEvent[], run: number): KnownTurn[] {
  const told = new Map<string, string>();
  const replies = new Map<string, string>();
  const turns = new Map<string, Omit<KnownTurn, "text" | "reply"> & { text: string; reply: string; isOver: boolean }>();
  for (const { type, at, actor, data } of events as (AnyEvent & { data: Record<string, unknown> })[]) {
    const { id, turn } = data as { id?: string; turn?: string };
    if (type === "message.queued" && id !== undefined) told.set(id, String(data.text));
    if (type === "message.replied" && id !== undefined) replies.set(id, String(data.reply));
    if (data.run !== run || typeof turn !== "string") continue;
    if (type === "turn.started") {
      const from = Principal.safeParse(data.from).data ?? actor;
      turns.set(turn, { id: turn, at, endedAt: at, from, text: String(data.text), reply: "", reason: "completed", isOver: false });
    }
    const open = turns.get(turn);
    if (type === "turn.ended" && open) {
      Object.assign(open, { isOver: true, endedAt: at, reply: String(data.text ?? ""), reason: reasonOf(data.reason) });
    }
  }
  return [...turns.values()]
    .filter(({ isOver }) => isOver)
    .map(({ isOver: _, ...turn }) => ({ ...turn, text: told.get(turn.id) ?? turn.text, reply: replies.get(turn.id) ?? turn.reply }));
}

/** Turns whose end is not in the lines. */
export function lostOf(turns: readonly KnownTurn[], lines: readonly string[]): KnownTurn[] {
  const there = new Set<string>();
  for (const line of lines) {
    const entry = parseEntry(line);
    if (typeof entry === "object" && entry.type === "turn_ended" && entry.turn !== null) there.add(entry.turn);
  }
  return turns.filter(({ id }) => !there.has(id));
}

/** `lines`: the readable ones. Remaining entries of a restored turn are dropped. */
export function withLost(
  lines: readonly string[],
  { turns, lost, note }: { turns: readonly KnownTurn[]; lost: readonly KnownTurn[]; note: string },
) {
  const order = new Map(turns.map(({ id }, index) => [id, index]));
  const isLost = new Set(lost.map(({ id }) => id));
  const waiting = [...lost];
  const numbered = new Numbered(lines);
  const result: string[] = [];
  const putBack = (before: number) => {
    while (waiting[0] && (order.get(waiting[0].id) ?? 0) < before) result.push(...numbered.turn(waiting.shift() as KnownTurn));
  };
  for (const line of lines) {
    const entry = parseEntry(line);
    const turn = typeof entry === "object" ? entry.turn : null;
    if (turn !== null && isLost.has(turn)) continue;
    const place = turn === null ? undefined : order.get(turn);
    if (place !== undefined) putBack(place);
    result.push(line);
  }
  putBack(Number.POSITIVE_INFINITY);
  return [numbered.line({ at: new Date().toISOString(), turn: null, type: "note", about: "recovered", text: note }), ...result];
}

/** Gives added entries numbers that no other entry has. */
class Numbered {
  #n = 0;

  constructor(lines: readonly string[]) {
    for (const line of lines) {
      const entry = parseEntry(line);
      if (typeof entry === "object") this.#n = Math.max(this.#n, entry.n);
    }
  }

  line(entry: { at: string; turn: string | null; type: Entry["type"] } & Record<string, unknown>): string {
    return JSON.stringify({ v: TRANSCRIPT_VERSION, n: ++this.#n, ...entry });
  }

  turn({ id: turn, at, endedAt, from, text, reply, reason }: KnownTurn): string[] {
    return [
      this.line({ at, turn, type: "user", message: turn, from, text, addition: null, steer: false }),
      ...(reply === "" ? [] : [this.line({ at: endedAt, turn, type: "text", text: reply })]),
      this.line({ at: endedAt, turn, type: "turn_ended", reason }),
    ];
  }
}

function reasonOf(reason: unknown): KnownTurn["reason"] {
  return TURN_ENDS.find((each) => each === reason) ?? "completed";
}
