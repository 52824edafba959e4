/**
 * Running conversations. The entries that their keepers write into transcripts become events in the journal, each once, from a remembered offset; and
 * messages are handed over one turn at a time, in the order they were sent.
 *
 * Driven by arriving input: a transcript that grew, a message, the beginning and the end of a run. Timers are used only to retry failures.
 */
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type Entry,
  type EventData,
  type Evidence,
  HoldfastError,
  hasEnded,
  isRunning,
  LONGEST_REPLY,
  type SessionId,
  sessionOf,
  TRANSCRIPT_VERSION,
  type UnnumberedEntry,
  type UsageRecord,
} from "@holdfast/contract";
import { describe, type Home, log, runDirectory } from "@holdfast/platform";
import { DAEMON } from "../access/principal.ts";
import type { Approvals } from "../approval/approvals.ts";
import { type RunId, runMarker } from "../host/host.ts";
import type { Draft, Journal } from "../journal/journal.ts";
import type { ApprovalRecord } from "../projection/approvals.ts";
import { type InLine, type MessageQueries, type SessionMessage, waitsForNextRun } from "../projection/messages.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { type UsageFact, usageDraft } from "../projection/usage.ts";
import { TranscriptFile } from "../record/transcript.ts";
import type { RunObserver } from "../session/run/lifecycle.ts";
import { amendSpec } from "../session/run/run-files.ts";
import type { AgentStatus } from "../session/status/agent-status.ts";
import type { RunningTurns } from "../usage/spending.ts";
import { reasonMessage } from "./denials.ts";
import { Following } from "./following.ts";
import type { ConversationKeeper } from "./keeper.ts";
import type { Fact, SoFar } from "./reading.ts";

/** Delay before a failed delivery or write is tried again. */
const AGAIN_MS = 1000;

/** Events after which a session's waiting messages are checked. */
const CHANGES = new Set(["message.queued", "message.readdressed", "message.cancelled", "session.started", "session.ended", "turn.ended"]);

export class Conversations implements RunObserver, RunningTurns, Disposable {
  readonly #home: Home;
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #messages: MessageQueries;
  readonly #status: AgentStatus;
  readonly #approvals: Approvals;
  readonly #keeper: ConversationKeeper;
  readonly #said: (message: SessionMessage) => string;
  readonly #usedUp: (record: SessionRecord) => string | null;
  readonly #expire: () => void;
  readonly #onUse: (session: SessionId) => void;
  readonly #followed = new Map<string, Following>();
  /** Sessions being handled; true: handle once more. */
  readonly #busy = new Map<SessionId, boolean>();
  readonly #again = new Map<string, NodeJS.Timeout>();
  /** Refused messages, with the turn that did not take them: they wait for its end. */
  readonly #refused = new Map<string, string>();
  /** Runs whose transcripts have grown. */
  readonly #grown = new Map<string, NodeJS.Immediate>();
  readonly #end = new AbortController();

  constructor(options: {
    home: Home;
    journal: Journal;
    queries: SessionQueries;
    messages: MessageQueries;
    status: AgentStatus;
    approvals: Approvals;
    keeper: ConversationKeeper;
    /** The text that is handed over for a message. */
    said(message: SessionMessage): string;
    /** Why its budget allows no further turn. */
    usedUp(record: SessionRecord): string | null;
    /** Fails messages that have waited too long, so that they are not handed over. */
    expire(): void;
    /** The running turn has used more, or is over. */
    onUse?(session: SessionId): void;
  }) {
    this.#home = options.home;
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#messages = options.messages;
    this.#status = options.status;
    this.#approvals = options.approvals;
    this.#keeper = options.keeper;
    this.#said = options.said;
    this.#usedUp = options.usedUp;
    this.#expire = options.expire;
    this.#onUse = options.onUse ?? (() => {});
    options.approvals.tellWith((approval) => this.#tellDecision(approval));
  }

  /** Called once it is known which sessions run. */
  begin(): void {
    for (const session of this.#messages.waiting()) this.attend(session);
    void this.#followJournal();
  }

  [Symbol.dispose](): void {
    this.#end.abort();
    for (const timer of this.#again.values()) clearTimeout(timer);
    for (const immediate of this.#grown.values()) clearImmediate(immediate);
    this.#followed.clear();
  }

  began(run: RunId): void {
    if (this.#followed.has(runMarker(run)) || !this.#follow(run)) return;
    this.look(run);
    this.attend(run.session);
  }

  #follow(run: RunId): Following | undefined {
    const record = this.#recordOf(run);
    if (!record) return undefined;
    const following = new Following({ file: this.transcriptOf(run), run, known: record.transcriptOffset });
    this.#followed.set(runMarker(run), following);
    return following;
  }

  /** The entry is already on disk: readers of the transcript have it before it becomes events. */
  wrote(run: RunId): void {
    const marker = runMarker(run);
    if (this.#grown.has(marker) || !this.#followed.has(marker)) return;
    this.#grown.set(
      marker,
      setImmediate(() => this.look(run)),
    );
  }

  /** Turns new entries into events. */
  look(run: RunId): void {
    const marker = runMarker(run);
    clearImmediate(this.#grown.get(marker));
    this.#grown.delete(marker);
    const following = this.#followed.get(marker);
    if (!following) return;
    try {
      this.#takeNew(run, following);
    } catch (error) {
      // For example on a full disk: the transcript stays, and is read again.
      log(`session ${run.session}: its transcript cannot be processed yet: ${describe(error)}`);
      this.#later(runMarker(run), () => this.#startOver(run));
    }
  }

  /**
   * A killed keeper has not recorded how its turn ended: this is written in its place, and damaged lines are set aside. Throws if the disk is full,
   * and can be called again.
   */
  ended(run: RunId): void {
    const following = this.#followed.get(runMarker(run));
    if (!following) return;
    try {
      this.#conclude(run, following);
    } catch (error) {
      // Entries that were read but not written to the journal are read again.
      const next = this.#follow(run);
      if (next) next.torn = following.torn;
      throw error;
    }
    this.#followed.delete(runMarker(run));
  }

  #conclude(run: RunId, following: Following): void {
    const { file, reading } = following;
    this.#takeNew(run, following);
    following.torn ??= file.cutTorn();
    const { torn } = following;
    const note = torn && !torn.isNoted ? [cutOff(torn.bytes, reading.turn)] : [];
    file.close([...note, ...reading.leftOver(new Date().toISOString())]);
    if (torn) torn.isNoted = true;
    this.#takeNew(run, following);
    if (torn) this.#tellDamage(run, { offset: torn.offset, lines: 1, aside: null });
    following.torn = undefined;
    const damage = file.mend(join(this.#home.path, "damaged"));
    if (damage) this.#tellDamage(run, { offset: 0, ...damage });
  }

  #tellDamage({ session, run }: RunId, damage: Omit<EventData<"transcript.damaged">, "run">): void {
    this.#journal.append({ type: "transcript.damaged", actor: DAEMON, session, data: { run, ...damage } });
  }

  /** Followers of the file learn about new entries from the run's notifications. */
  transcriptOf(run: RunId): TranscriptFile {
    return new TranscriptFile(runDirectory(this.#home, run.session, run.run));
  }

  /** The running turn, named by the message that began it. */
  turnOf(run: RunId): string | null {
    return this.#followed.get(runMarker(run))?.reading.turn ?? null;
  }

  /** Usage of the running turn so far, which is not recorded yet. */
  usedBy(session: SessionId): UsageFact | null {
    const record = this.#queries.get(session);
    const soFar = record && this.#followed.get(runMarker({ session, run: record.run }))?.reading.soFar;
    if (!soFar) return null;
    const { name, agent, groups, run } = record;
    return { ...useOf(soFar), seq: this.#journal.cursor.seq, session, name, agent, groups, run: run as UsageFact["run"], at: soFar.at };
  }

  all(): UsageFact[] {
    const sessions = new Set([...this.#followed.values()].filter(({ reading }) => reading.soFar).map(({ session }) => session));
    return [...sessions].flatMap((session) => this.usedBy(session) ?? []);
  }

  /** Writes a note for people into a run's transcript, and tells the agent if that interrupts nothing. Repeating it changes nothing. */
  async note(run: RunId, note: { key: string; about: string; text: string; words: string | null }): Promise<void> {
    if (this.#followed.has(runMarker(run))) await this.#keeper.converse(run, { t: "note", ...note });
  }

  #startOver(run: RunId): void {
    if (!this.#followed.delete(runMarker(run))) return;
    this.began(run);
  }

  #takeNew(run: RunId, following: Following): void {
    for (const { facts } of following.next()) {
      const record = this.#recordOf(run);
      if (record && facts.length > 0) this.#write(record, facts);
    }
  }

  /** All consequences of one entry are one transaction. */
  #write(record: SessionRecord, facts: readonly Fact[]): void {
    const run = { session: record.id, run: record.run };
    const drafts: Draft[] = [];
    const after: (() => void)[] = [];
    let evidence: Evidence | undefined;
    for (const fact of facts) {
      if (fact.type === "claim") {
        evidence = { source: "protocol", at: fact.at, claim: fact.claim, what: fact.what };
      } else if (fact.type === "conversation") {
        const { conversation } = fact;
        if (conversation === record.conversation) continue;
        // A new conversation that starts during a turn is taken to contain that turn's prompt.
        const begun = this.turnOf(run) === null && !record.conversations.some(({ id }) => id === conversation);
        const data = { run: run.run, conversation, begun };
        drafts.push({ type: "session.conversation_changed", actor: DAEMON, session: record.id, data });
        after.push(() => amendSpec(this.#home, record.id, { conversation }));
      } else if (fact.type === "asked") {
        const parked = this.#approvals.asked(record, fact.entry);
        drafts.push(...parked.drafts);
        evidence = parked.evidence ?? evidence;
        after.push(parked.written);
      } else if (fact.type === "settled") {
        drafts.push(...this.#approvals.settled(record, fact.entry.ask), ...this.#reasonsFor(record, fact.entry));
      } else if (fact.type === "so_far") {
        after.push(() => this.#onUse(record.id));
      } else if (fact.type === "usage") {
        drafts.push(useRecorded(record, fact));
      } else if (fact.type === "said") {
        drafts.push(...this.#receipts(fact.message, run));
      } else if (fact.type === "answered") {
        drafts.push(...this.#answers(record, fact));
        after.push(() => this.#onUse(record.id));
      } else {
        drafts.push({ ...fact, actor: DAEMON, session: record.id } as Draft);
      }
    }
    if (evidence) this.#status.learn(run, evidence, drafts);
    else if (drafts.length > 0) this.#journal.append(...drafts);
    for (const act of after) act();
  }

  #reasonsFor(record: SessionRecord, entry: Extract<Entry, { type: "approval_answered" }>): Draft[] {
    const approval = this.#approvals.byAsk(record, entry.ask);
    const message = approval && reasonMessage(record, approval, entry);
    return message && !this.#messages.get(message.id) ? [message.draft] : [];
  }

  /** A message in the transcript proves that the agent has it, and that a turn began with it. */
  #receipts(id: string, { run, session }: RunId): Draft[] {
    const message = this.#messages.get(id);
    if (!message?.open || message.state === "turn_started") return [];
    const injected: Draft = { type: "message.injected", actor: DAEMON, session, data: { id, run, via: VIA } };
    const started: Draft = { type: "message.turn_started", actor: DAEMON, session, data: { id, run, evidence: "it is in the transcript" } };
    return message.state === "injected" ? [started] : [injected, started];
  }

  #answers(record: SessionRecord, { messages, at, reply, reason, error }: Extract<Fact, { type: "answered" }>): Draft[] {
    const { id: session, run, turns: turn } = record;
    const about = { actor: DAEMON, session };
    const drafts: Draft[] = [];
    if (reply !== "") {
      const cut = reply.length > LONGEST_REPLY;
      drafts.push({
        ...about,
        type: "session.replied",
        data: { run, turn, toldAt: at, reply: reply.slice(0, LONGEST_REPLY).toWellFormed(), cut },
      });
    }
    const budget = record.budgetExceeded === null ? null : this.#usedUp(record);
    const failed = reason === "failed" || reason === "interrupted";
    if (failed)
      drafts.push({
        ...about,
        type: "session.turn_failed",
        data: { run, turn, toldAt: at, why: (budget ?? error ?? WHY[reason]).slice(0, 2000) },
      });
    const isAnswer = reason === "completed" || reason === "max_tokens" || reason === "max_requests";
    const hint = "read its output: holdfast transcript NAME; then send it again";
    for (const id of messages.filter((each) => this.#messages.get(each)?.open)) {
      if (isAnswer) drafts.push({ ...about, type: "message.replied", data: { id, run, reply } });
      else drafts.push({ ...about, type: "message.failed", data: { id, why: budget ?? error ?? WHY[reason], hint, known: true } });
    }
    return drafts;
  }

  /** Repeating a decision to a keeper that already has it changes nothing. */
  #tellDecision({ id, session, run, ask, status, answeredBy, always, reason }: ApprovalRecord): void {
    if (ask === null) return;
    const answer = { t: "answer", ask, allow: status === "allowed", always, by: answeredBy, reason } as const;
    this.#keeper.converse({ session, run }, answer).catch((error: unknown) => {
      log(`approval ${id}: the agent cannot be told yet: ${describe(error)}`);
      const record = this.#queries.get(session);
      const again = () => this.#tellDecision({ id, session, run, ask, status, answeredBy, always, reason } as ApprovalRecord);
      if (record && record.run === run && !hasEnded(record.status)) this.#later(`approval ${id}`, again);
    });
  }

  async #followJournal(): Promise<void> {
    const { signal } = this.#end;
    let { seq } = this.#journal.cursor;
    while (!signal.aborted) {
      const events = this.#journal.readAfter(seq, 1000);
      for (const { type, session } of events) if (session !== null && CHANGES.has(type)) this.attend(session);
      seq = events.at(-1)?.seq ?? seq;
      if (events.length === 0) await this.#journal.changed(seq, signal);
    }
  }

  /** Hands over waiting messages, if it is time. */
  attend(session: SessionId): void {
    if (this.#end.signal.aborted) return;
    if (this.#busy.has(session)) return void this.#busy.set(session, true);
    this.#busy.set(session, false);
    this.#handOver(session)
      .catch((error: unknown) => {
        log(`session ${session}: a message could not be delivered: ${describe(error)}`);
        this.#later(session, () => this.attend(session));
      })
      .finally(() => {
        const again = this.#busy.get(session);
        this.#busy.delete(session);
        if (again) this.attend(session);
      });
  }

  async #handOver(session: SessionId): Promise<void> {
    while (!this.#end.signal.aborted) {
      const record = this.#queries.get(session);
      if (record?.kind !== "conversation") return;
      this.#expire();
      const open = this.#messages.line(session);
      if (hasEnded(record.status) && record.restartAt === null) return this.#giveUp(record, open);
      if (record.status === "starting" || !isRunning(record.status) || record.stopRequested) return;
      const run = { session, run: record.run };
      const turnRuns = this.turnOf(run) !== null;
      const next = nextOf(
        open.filter(({ id, state }) => state !== "queued" || !turnRuns || this.#refused.get(id) !== this.turnOf(run)),
        turnRuns,
      );
      const message = next && (this.#messages.get(next.id) as SessionMessage | undefined);
      if (!message) return;
      // The session is about to be stopped; waiting messages then get the reason.
      if (!turnRuns && message.state === "queued" && this.#usedUp(record) !== null) return;
      if (!(await this.#prompt(run, message))) return;
      // No other turn begins until the message is in the transcript.
      if (this.#end.signal.aborted || this.#messages.get(message.id)?.state === "injecting") return;
    }
  }

  /** True for a message from a session that is not an ancestor of the recipient. */
  #isPeers({ from, session }: SessionMessage): boolean {
    const sender = sessionOf(from);
    return sender !== undefined && !this.#queries.descendants(sender).includes(session);
  }

  /** False: not now; the transcript, or the end of the run, says when to try again. */
  async #prompt(run: RunId, message: SessionMessage): Promise<boolean> {
    const { id, from, text, addition, steer } = message;
    const turn = this.turnOf(run);
    if (message.state === "queued") {
      const data = { id, run: run.run, via: VIA, working: this.turnOf(run) !== null };
      this.#journal.append({ type: "message.injecting", actor: DAEMON, session: run.session, data });
    }
    const words = this.#said(message);
    const patient = this.#isPeers(message) ? { patient: true } : {};
    try {
      await this.#keeper.converse(run, { t: "prompt", message: id, from, text, addition, words, steer, ...patient });
      await nextTurn();
      this.look(run);
      this.#refused.delete(id);
      return true;
    } catch (error) {
      const { code, message: why } = HoldfastError.from(error);
      const stands = this.#messages.get(id)?.state === "injecting";
      const isRefused = code === "turn_runs" || code === "session_ended";
      const data = { id, why, ...(isRefused ? {} : { doubt: true }) };
      if (stands) this.#journal.append({ type: "message.requeued", actor: DAEMON, session: run.session, data });
      if (!isRefused) throw error;
      if (code !== "turn_runs" || turn === null) return false;
      // The turn may still accept messages of others.
      this.#refused.set(id, turn);
      return true;
    }
  }

  /** Messages that the run had get no answer any more; the others fail, or wait for the next run. */
  #giveUp(record: SessionRecord, open: readonly InLine[]): void {
    const isHeld = waitsForNextRun(record);
    const limit = record.budgetExceeded?.limit;
    const budget = limit === undefined ? null : this.#usedUp(record);
    const hint = `continue: holdfast resume NAME${budget === null ? "" : ` --budget ${limit}=…`}; then send it again`;
    const drafts = open.flatMap(({ id, state }): Draft[] => {
      const isQueued = state === "queued";
      if (isHeld && isQueued) return [];
      const about = { actor: DAEMON, session: record.id };
      // If delivered it would be in the transcript, all of which was read.
      if (isHeld && state === "injecting") return [{ ...about, type: "message.requeued", data: { id, why: WAITS_FOR_RUN } }];
      const why = budget ?? (isQueued ? "the session has ended" : "its run ended before it answered");
      const data = { id, why, hint, known: isQueued || state === "turn_started" };
      return [{ ...about, type: "message.failed", data }];
    });
    if (drafts.length > 0) this.#journal.append(...drafts);
  }

  #recordOf({ session, run }: RunId): SessionRecord | undefined {
    const record = this.#queries.get(session);
    return record?.kind === "conversation" && record.run === run && !hasEnded(record.status) ? record : undefined;
  }

  #later(key: string, act: () => void): void {
    if (this.#again.has(key) || this.#end.signal.aborted) return;
    const timer = setTimeout(() => {
      this.#again.delete(key);
      act();
    }, AGAIN_MS);
    this.#again.set(key, timer.unref());
  }
}

const VIA = "protocol";
const WAITS_FOR_RUN = "its run ended before it was delivered";

const WHY: Readonly<Record<EventData<"turn.ended">["reason"], string>> = {
  completed: "the turn ended",
  max_tokens: "the model's limit of tokens ended the turn",
  max_requests: "the agent's limit of requests ended the turn",
  refused: "the agent refused to continue",
  cancelled: "the turn was cancelled",
  failed: "the turn failed",
  interrupted: "the turn was interrupted",
};

/** For readers of the transcript. */
function cutOff(bytes: number, turn: string | null): UnnumberedEntry {
  const text = `the last entry was incomplete: ${bytes} bytes were lost`;
  return { v: TRANSCRIPT_VERSION, at: new Date().toISOString(), turn, type: "note", about: "recovered", text };
}

/** The usage of an entry, as it is recorded. */
export function useOf(entry: SoFar | Extract<Entry, { type: "usage" }>): Omit<UsageRecord, "run" | "source" | "key"> {
  const { model, input, output, cacheRead, cacheWrite, cost, context, turn, estimated } = entry;
  const fill = context === null || context.size === null ? null : { used: context.used, size: context.size };
  return { turn, model, input, output, cacheRead, cacheWrite, cost, context: fill, ...(estimated ? { estimated } : {}) };
}

/** The key identifies a usage entry that is read twice. */
function useRecorded(record: SessionRecord, { entry, key }: Extract<Fact, { type: "usage" }>): Draft {
  return usageDraft(record, { ...useOf(entry), run: record.run, source: "protocol", key, at: entry.at });
}

/** A message on its way is repeated first; then come steering messages; then, if no turn runs, the others. */
function nextOf(open: readonly InLine[], turnRuns: boolean): InLine | undefined {
  const onItsWay = open.find(({ state }) => state === "injecting");
  if (onItsWay) return onItsWay;
  const queued = open.filter(({ state }) => state === "queued");
  return turnRuns ? queued.find(({ steer }) => steer) : queued[0];
}
