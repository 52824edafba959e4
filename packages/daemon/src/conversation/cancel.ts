/**
 * Interrupts a turn, and reports the outcome. Pressing a key does not mean that the turn ended: each step is followed by a look at the agent, and an
 * agent that ignores one step gets the next. No step ends the agent; that is for `stop`, which is offered.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type CancelOutcome, type CancelStep, HoldfastError, isRunning, type Principal } from "@holdfast/contract";
import type { Profile } from "../agent/profile.ts";
import type { RunId } from "../host/host.ts";
import type { Journal } from "../journal/journal.ts";
import type { SessionRecord } from "../projection/session-queries.ts";
import { notRunning } from "../session/run/running.ts";

/** A screen that no hook confirms is believed only after this time; a shorter wait would call a step ignored too soon. */
const LOOKS_MS = 300;

/** A terminal program reads two Escapes at once as one key with Alt. */
const APART_MS = 150;

export interface Cancelled {
  outcome: CancelOutcome;
  steps: CancelStep[];
}

/** `waitMs`: how long the turn may take to end after each step; 0: one step, without a look. */
export function cancelWith(rooms: Rooms) {
  return async (record: SessionRecord, how: { actor: Principal; waitMs: number; signal?: AbortSignal | undefined }): Promise<Cancelled> => {
    if (record.status === "created") throw notRunning(record);
    if (!isRunning(record.status)) {
      throw new HoldfastError("session_ended", `${record.name} has ended (${record.status})`, {
        hint: `resume it: holdfast resume ${record.name}`,
      });
    }
    const isTalk = record.kind === "conversation";
    const { isOver, steps } = isTalk ? protocol(rooms, record) : keys(rooms, record, how.actor);
    if (isOver(record)) {
      // Its keeper may have begun a turn that has not been read yet.
      if (isTalk) await rooms.converse({ session: record.id, run: record.run });
      return { outcome: "none", steps: [] };
    }
    const done: CancelStep[] = [];
    for (const [step, take] of steps) {
      await take();
      done.push(step);
      if (how.waitMs === 0) return { outcome: "unknown", steps: done };
      if (await endsInTime(rooms, record, { ...how, isOver })) return { outcome: "stopped", steps: done };
    }
    return { outcome: "ignored", steps: done };
  };
}

function protocol(rooms: Rooms, record: SessionRecord): Plan {
  const run = { session: record.id, run: record.run };
  const turn = rooms.turnOf(run);
  const tell = () => rooms.converse(run);
  return {
    isOver: () => turn === null || rooms.turnOf(run) !== turn,
    steps: [
      ["protocol", tell],
      ["protocol_again", tell],
    ],
  };
}

function keys(rooms: Rooms, record: SessionRecord, actor: Principal): Plan {
  const { name, agent } = record;
  const { interrupt, interruptHarder } = rooms.profileOf(agent) ?? {};
  if (!interrupt) {
    throw new HoldfastError("not_offered", `it is not known how to interrupt ${agent}`, {
      hint: `press keys: holdfast keys ${name} C-c; or stop it: holdfast stop ${name}`,
    });
  }
  // Keys that interrupt a turn may end an idle agent.
  if (record.standing?.turn == null) {
    throw new HoldfastError("status_unknown", `it is not known whether ${name} is in a turn: nothing was pressed`, {
      hint: `check its screen: holdfast screen ${name}; then press keys: holdfast keys ${name} ${interrupt.join(" ")}; or stop it: holdfast stop ${name}`,
    });
  }
  const press = (keys: readonly string[]) => async () => {
    for (const [i, key] of keys.entries()) {
      if (i > 0) await sleep(APART_MS);
      await rooms.press(record.id, { keys: [key], actor });
    }
  };
  const steps: Plan["steps"] = [
    ["keys", press(interrupt)],
    ["keys_again", press(interrupt)],
  ];
  if (interruptHarder) steps.push(["ctrl_c", press(interruptHarder)]);
  return { isOver: (now) => now.standing?.turn !== "working", steps };
}

/** True if the turn ends in time. */
async function endsInTime(
  rooms: Rooms,
  { id, run }: SessionRecord,
  { isOver, waitMs, signal: gone }: Pick<Plan, "isOver"> & { waitMs: number; signal?: AbortSignal | undefined },
): Promise<boolean> {
  const timeout = AbortSignal.timeout(waitMs);
  const signal = gone ? AbortSignal.any([timeout, gone]) : timeout;
  rooms.lookAgain({ session: id, run }, LOOKS_MS);
  for (;;) {
    const { seq } = rooms.journal.cursor;
    const now = rooms.get(id);
    if (!now || now.run !== run || !isRunning(now.status) || isOver(now)) return true;
    if (signal.aborted) return false;
    await rooms.journal.changed(seq, signal);
  }
}

interface Rooms {
  journal: Journal;
  get(session: SessionRecord["id"]): SessionRecord | undefined;
  profileOf(agent: string): Profile | undefined;
  turnOf(run: RunId): string | null;
  /** Tells the agent of a conversation to cancel. */
  converse(run: RunId): Promise<unknown>;
  press(ref: string, options: { keys: readonly string[]; actor: Principal }): Promise<unknown>;
  lookAgain(run: RunId, inMs: number): void;
}

interface Plan {
  isOver(record: SessionRecord): boolean;
  steps: [CancelStep, () => Promise<unknown>][];
}

const IN_WORDS: Readonly<Record<CancelStep, string>> = {
  keys: "pressed its interrupt key",
  keys_again: "pressed it again",
  ctrl_c: "pressed Ctrl+C",
  protocol: "told it to cancel",
  protocol_again: "told it again",
};

export function ignored({ name }: Pick<SessionRecord, "name">, { steps }: Cancelled): HoldfastError {
  const tried = steps.map((step) => IN_WORDS[step]).join(", ");
  return new HoldfastError("cancel_ignored", `${name} keeps working: ${tried}, and its turn has not ended`, {
    hint: `stop it: holdfast stop ${name}; its conversation can be resumed`,
    details: { steps },
  });
}
