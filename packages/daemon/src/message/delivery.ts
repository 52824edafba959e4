/**
 * Hands messages over to agents: for each session one at a time, in the order they were sent. decide.ts chooses the next step from the message's
 * state in the journal and the current situation; nothing else survives a restart of the daemon.
 *
 * `message.injecting` is in the journal before the first key, `message.injected` after the Enter. Hook signals become receipts in the transaction
 * that takes them (receipts.ts).
 *
 * Driven by arriving input: a message, a look at the screen, a hook signal, the end of a run. One timer for all sessions with open messages, none
 * without any.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type EventData, type HostName, hasEnded, isRunning, type Screen, type SessionId, sessionId, sessionOf } from "@holdfast/contract";
import { describe, type Home, type KeyedMutex, log } from "@holdfast/platform";
import { DAEMON } from "../access/principal.ts";
import { readComposer } from "../agent/composer.ts";
import { headed } from "../agent/heading.ts";
import type { Signal } from "../agent/hooks/hook-rules.ts";
import type { Profile } from "../agent/profile.ts";
import type { Profiles } from "../agent/profiles/index.ts";
import { Looks } from "../agent/status/looks.ts";
import { readScreen } from "../agent/status/screen-rules.ts";
import { joinedPrompts } from "../agent/transcript.ts";
import type { Host, RunId } from "../host/host.ts";
import type { Draft, Journal } from "../journal/journal.ts";
import { type MessageQueries, type MessageRecord, type SessionMessage, waitsForNextRun } from "../projection/messages.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { readSessionFiles } from "../session/run/run-files.ts";
import type { AgentStatus, StatusFollower } from "../session/status/agent-status.ts";
import { AnnouncedTurns, GOES_ON_MS } from "./announced-turns.ts";
import { ChannelFile } from "./channel-file.ts";
import { type Action, type Attempt, decide, limitIsOver, type Situation } from "./decide.ts";
import type { Expiry } from "./expiry.ts";
import {
  evidenceOf,
  failure,
  isHandedOver,
  isOf,
  isSame,
  isStarted,
  isToldByHook,
  isWritten,
  overtaken,
  receiptsOf,
  replied,
  turnStarted,
  WRITTEN,
} from "./receipts.ts";
import { remembers } from "./remembers.ts";
import { asTyped } from "./same-words.ts";
import { whoseText } from "./whose-text.ts";

/** Pause between a paste and its Enter, if the profile sets none. */
const ENTER_AFTER_MS = 100;
/** How long other typists wait for a paste to be shown. */
const TYPING_MS = 5000;
/** Retries after a failed write or read. */
const AGAIN_MS = 2000;

const CHANGES = new Set(["message.queued", "message.readdressed", "session.ended", "session.started", "session.restart_abandoned"]);
/** After these events nothing about a message needs to be remembered. */
const ENDS = new Set(["message.replied", "message.failed", "message.settled", "message.cancelled", "message.read"]);

interface Seen {
  what: string;
  since: number;
}

type Said = Pick<MessageRecord, "id" | "nonce" | "from" | "text" | "addition" | "group" | "role">;

export class Delivery implements Disposable {
  readonly #home: Home;
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #messages: MessageQueries;
  readonly #hosts: ReadonlyMap<HostName, Host>;
  readonly #profiles: Profiles;
  readonly #typing: KeyedMutex;
  readonly #expiry: Expiry;
  readonly #status: AgentStatus;
  readonly #usedUp: (record: SessionRecord) => string | null;
  readonly #attempts = new Map<string, Attempt>();
  readonly #seen = new Map<string, Seen>();
  readonly #reasons = new Map<string, string>();
  readonly #turns = new AnnouncedTurns();
  /** Sessions being handled; true: handle once more. */
  readonly #busy = new Map<SessionId, boolean>();
  readonly #timer = new Looks((session) => this.#see(sessionId(session)));
  readonly #end = new AbortController();

  constructor(options: {
    home: Home;
    journal: Journal;
    queries: SessionQueries;
    messages: MessageQueries;
    hosts: ReadonlyMap<HostName, Host>;
    profiles: Profiles;
    status: AgentStatus;
    typing: KeyedMutex;
    expiry: Expiry;
    /** Why its budget allows no further turn. */
    usedUp(record: SessionRecord): string | null;
  }) {
    this.#home = options.home;
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#messages = options.messages;
    this.#hosts = options.hosts;
    this.#profiles = options.profiles;
    this.#typing = options.typing;
    this.#expiry = options.expiry;
    this.#usedUp = options.usedUp;
    this.#status = options.status;
    options.status.followWith(this.#follow);
  }

  /** Called once it is known which sessions run and what their hooks have reported meanwhile. */
  begin(): void {
    for (const session of this.#messages.waiting()) this.#see(session);
    void this.#followJournal();
  }

  [Symbol.dispose](): void {
    this.#end.abort();
    this.#timer[Symbol.dispose]();
  }

  /** True if messages to it get receipts: its screen and its composer can be read. */
  delivers({ agent, kind }: Pick<SessionRecord, "agent" | "kind">): boolean {
    if (kind === "conversation") return true;
    const profile = this.#profiles.find(agent);
    return profile?.composer !== undefined && profile.screen !== undefined && !profile.untested;
  }

  /** Why a message is in its current state. */
  reasonOf(id: string): string | null {
    return this.#reasons.get(id) ?? null;
  }

  readonly #follow: StatusFollower = ({ record, signal, changed }) => {
    const open = record.kind === "conversation" ? [] : this.#messages.open(record.id);
    const rules = this.#profiles.find(record.agent)?.hooks?.rules ?? [];
    const answers = signal !== undefined && rules.some(({ event, reply }) => event === signal.event && reply !== undefined);
    const joins = signal !== undefined && this.#turns.take(record.id, record.run, signal, answers || signal.failure !== null);
    if (open.length === 0 && !signal?.prompt) return [];
    if (changed?.turnBegan) this.#noteTurn(open, changed);
    setImmediate(() => this.#see(record.id));
    if (!signal) return [];
    for (const message of open) this.#noteWords(message, { signal, run: record.run, joins });
    const messages = signal.prompt === null ? open : [...open, ...this.#messages.doubtful(record.id, record.run)];
    return receiptsOf(signal, {
      run: record.run,
      messages,
      answers,
      said: (message) => this.said(message),
      answerSince: ({ id }) => this.#attempts.get(id)?.reply ?? null,
      failureSince: ({ id }) => this.#attempts.get(id)?.failure ?? null,
      atRest: record.standing?.turn !== "working",
      joins,
      into: ({ id }) => {
        const { into = null, told = null } = this.#attempts.get(id) ?? {};
        return into === null || told === null ? null : { turn: into, evidence: told };
      },
      isAnnounced: signal.turn !== null && this.#turns.isAnnounced(record.id, record.run, signal.turn),
    });
  };

  /**
   * No signal says when a message that was given into a running turn is answered, nor does an agent that only writes files: the last answer, once all
   * is quiet, counts.
   */
  #noteWords(message: SessionMessage, { signal, run, joins }: { signal: Signal; run: number; joins: boolean }): void {
    const isOwn = signal.written === true && isStarted(message, run) && isOf(message, signal);
    // An answer that may also be for this message: qwen's hooks do not report a prompt that it takes into a running turn.
    if (signal.reply !== null && !signal.written && isHandedOver(message, run))
      this.#attemptOf(message).heard ??= { reply: signal.reply, turn: signal.turn };
    const isPrompt = signal.prompt !== null && isSame(this.said(message), signal.prompt);
    if (!isOwn && !((message.working || (isPrompt && joins)) && message.state !== "queued")) return;
    const attempt = this.#attemptOf(message);
    const isElsewhere = attempt.into !== null && signal.turn !== null && signal.turn !== attempt.into;
    if (isOwn && signal.event === "outcome" && !signal.over) Object.assign(attempt, { reply: signal.reply, failure: signal.failure });
    else if (signal.reply !== null && !isElsewhere) attempt.reply = signal.reply;
    if (!isPrompt) return;
    attempt.told = evidenceOf(signal);
    if (joins) attempt.into = signal.turn;
  }

  /** The answer to a message that the agent took into a running turn, by the agent's own files. */
  #joinedAnswer(record: SessionRecord | undefined, message: SessionMessage): string | null {
    if (!record || message.state !== "injected" || this.#attemptOf(message).heard === null) return null;
    const { id, agent, conversation, cwd } = record;
    const transcript = this.#profiles.find(agent)?.transcript;
    if (!transcript || conversation === null) return null;
    const { env } = readSessionFiles(this.#home, id);
    const words = this.said(message);
    return (
      joinedPrompts(transcript, { conversation, cwd, env }, message.queuedAt).findLast(({ text }) => isSame(words, text))?.reply ?? null
    );
  }

  #noteTurn(open: readonly SessionMessage[], { evidence }: EventData<"session.status_changed">): void {
    const by = evidence.filter(({ claim }) => claim.turn === "working").sort((a, b) => b.at.localeCompare(a.at))[0];
    for (const message of open) {
      if (message.state !== "queued") this.#attemptOf(message).sawTurn = by ? `${by.source}: ${by.what}` : "a turn began";
    }
  }

  /** The text to hand over, with the sender's current name. */
  said({ id, nonce, from, text, addition, group, role }: Said): string {
    const session = sessionOf(from);
    const heading = session && { id, nonce, name: this.#queries.get(session)?.name ?? session, group, role };
    const words = heading ? headed(heading, asTyped(text)) : asTyped(text);
    // The addition is Holdfast's own.
    return addition === null ? words : `${words}\n\n${asTyped(addition)}`;
  }

  async #followJournal(): Promise<void> {
    const { signal } = this.#end;
    let { seq } = this.#journal.cursor;
    while (!signal.aborted) {
      const events = this.#journal.readAfter(seq, 1000);
      for (const { type, session, data } of events) {
        if (session !== null && CHANGES.has(type)) this.#see(session);
        if (ENDS.has(type)) this.#forget(String(data.id));
      }
      seq = events.at(-1)?.seq ?? seq;
      if (events.length === 0) await this.#journal.changed(seq, signal);
    }
  }

  #see(session: SessionId): void {
    // Messages to a conversation are not typed.
    if (this.#end.signal.aborted || this.#queries.get(session)?.kind === "conversation") return;
    if (this.#busy.has(session)) {
      this.#busy.set(session, true);
      return;
    }
    this.#busy.set(session, false);
    void this.#seeTo(session).finally(() => {
      const again = this.#busy.get(session);
      this.#busy.delete(session);
      if (again) this.#see(session);
    });
  }

  async #seeTo(session: SessionId): Promise<void> {
    try {
      this.#expiry.look();
      const record = this.#queries.get(session);
      if (record && !this.delivers(record)) return this.#giveUpUnread(record);
      let onlySteering = false;
      for (const message of this.#messages.open(session)) {
        if (onlySteering && !message.steer) continue;
        await this.#advance(message);
        const now = this.#find(message.id);
        if (now?.session !== session) continue;
        // A steering message overtakes one that waits for the end of the turn. Otherwise later messages wait until this one is accounted for.
        if (now?.state === "queued" && !now.steer) onlySteering = true;
        else if (now?.open && now.state !== "turn_started") break;
      }
    } catch (error) {
      log(`session ${session}: a message could not be delivered: ${describe(error)}`);
      this.#timer.order(session, AGAIN_MS);
    }
  }

  /** A session to which nothing can be handed over safely reads its mailbox itself; once it has ended, its messages fail. */
  #giveUpUnread(record: SessionRecord): void {
    const { id: session, status, restartAt } = record;
    if (!hasEnded(status) || restartAt !== null || waitsForNextRun(record)) return;
    const why = "the session has ended without reading it";
    const hint = "read the text: holdfast messages NAME --json";
    const unread = this.#messages.open(session).map((message) => failure(message, { why, hint, known: true }));
    if (unread.length > 0) this.#journal.append(...unread);
  }

  #find(id: string): SessionMessage | undefined {
    return this.#messages.get(id) as SessionMessage | undefined;
  }

  /** Advances the message until it has to wait. */
  async #advance(message: SessionMessage): Promise<void> {
    for (let now: SessionMessage | undefined = message; now?.open && !this.#end.signal.aborted; now = this.#find(message.id)) {
      const action = decide(now, await this.#look(now));
      // Meanwhile the message may have moved to another coordinator, or wait for one.
      if (this.#find(message.id)?.session !== message.session || !this.#messages.isInLine(message.id)) return;
      if (action.do === "hold") {
        this.#reasons.set(now.id, action.why);
        const mayGoOn = now.state === "queued" && this.#turns.mayGoOn(now.session, this.#queries.get(now.session)?.run ?? 0);
        this.#timer.order(now.session, mayGoOn ? GOES_ON_MS : action.againMs);
        return;
      }
      this.#reasons.delete(now.id);
      await this.#act(now, action);
    }
    this.#forget(message.id);
  }

  #forget(id: string): void {
    for (const kept of [this.#attempts, this.#seen, this.#reasons]) kept.delete(id);
  }

  async #act(message: SessionMessage, action: Exclude<Action, { do: "hold" }>): Promise<void> {
    const { id, session } = message;
    const run = message.run ?? 0;
    const note = (draft: Draft) => void this.#journal.append(draft);
    switch (action.do) {
      case "hand over":
        return this.#handOver(message);
      case "press enter":
        return this.#typing.run(session, () => this.#pressEnter(message));
      case "requeue":
        return note({ type: "message.requeued", actor: DAEMON, session, data: { id, why: action.why } });
      case "note injected":
        return note({ type: "message.injected", actor: DAEMON, session, data: { id, run, via: message.via ?? "typed" } });
      case "settle":
        return note({ type: "message.settled", actor: DAEMON, session, data: { id, why: action.why } });
      case "note turn":
        return void this.#journal.append(...this.#endedBefore(message), ...turnStarted(message, { run, evidence: action.evidence }));
      case "note answer": {
        const turn = this.#attemptOf(message).heard?.turn ?? null;
        const reply = this.#joinedAnswer(this.#queries.get(session), message);
        return void this.#journal.append(...turnStarted(message, { run, evidence: WRITTEN, turn }), replied(message, { run, reply }));
      }
      case "note reply":
        return note(replied(message, { run, reply: this.#attemptOf(message).reply }));
      case "fail":
        return note(failure(message, { why: action.why, hint: action.hint, known: action.known }));
    }
  }

  /** Ends turns that were over when the message was handed over, and that nothing has reported since. */
  #endedBefore(message: SessionMessage): Draft[] {
    const run = message.run ?? 0;
    if (message.working) return [];
    return this.#messages
      .open(message.session)
      .filter((each) => each.id !== message.id && isStarted(each, run))
      .map((each) => {
        const { reply, failure: why } = this.#attemptOf(each);
        return this.#tells(each).replies ? overtaken(each, { run, reply, why }) : replied(each, { run, reply });
      });
  }

  /** Looks again when it is its turn to type: the situation may have changed. */
  async #handOver(message: SessionMessage): Promise<void> {
    await this.#typing.run(message.session, async () => {
      const now = await this.#look(message);
      if (decide(message, now).do !== "hand over") return;
      const { record, run, host, profile } = this.#placeOf(message);
      // While the screen was read, the message may have been read, cancelled or expired.
      this.#expiry.look();
      const current = this.#find(message.id);
      if (!record || !run || !host || current?.state !== "queued" || current.session !== message.session) return;
      if (!this.#messages.isInLine(message.id)) return;
      const via = (now.channel !== undefined && profile?.channel?.name) || "typed";
      // The agent's report counts, not a last frame of a spinner.
      const working = this.#queries.get(message.session)?.standing?.turn === "working";
      const data = { id: message.id, run: run.run, via, working };
      this.#journal.append({ type: "message.injecting", actor: DAEMON, session: message.session, data });
      if (now.channel !== undefined && profile?.channel) {
        ChannelFile.find(this.#home, run, profile.channel)?.append({ id: message.id, text: this.said(message) });
        return;
      }
      const attempt = this.#attemptOf(message);
      attempt.sawTurn = null;
      attempt.entered = 0;
      attempt.pasted++;
      await host.write(run, Buffer.from(this.said(message)), { paste: true });
      await sleep(profile?.enterAfterMs ?? ENTER_AFTER_MS);
      await this.#submit(message.id);
    });
  }

  /** Presses Enter as soon as the paste is visible in the composer, and not without that. */
  async #submit(id: string): Promise<void> {
    const until = performance.now() + TYPING_MS;
    while (performance.now() < until && !this.#end.signal.aborted) {
      const message = this.#find(id);
      if (message?.state !== "injecting") return;
      const action = decide(message, await this.#look(message));
      if (action.do === "press enter") return this.#pressEnter(message);
      if (action.do !== "hold" || action.againMs > 250) return;
      await sleep(Math.min(action.againMs, 50));
    }
  }

  /** Looks once more right before the key. */
  async #pressEnter({ id }: SessionMessage): Promise<void> {
    const message = this.#find(id);
    if (!message) return;
    const now = await this.#look(message);
    const { run, host } = this.#placeOf(message);
    if (decide(message, now).do !== "press enter" || !run || !host) return;
    const attempt = this.#attemptOf(message);
    attempt.entered++;
    this.#seen.delete(id);
    const isWorking = this.#queries.get(message.session)?.standing?.turn === "working";
    await host.write(run, Buffer.from("\r"), { paste: false });
    if (this.#find(id)?.state !== "injecting") return;
    const data = { id, run: run.run, via: "typed", ...(isWorking ? { working: true } : {}) };
    this.#journal.append({ type: "message.injected", actor: DAEMON, session: message.session, data });
  }

  async #look(message: SessionMessage): Promise<Situation> {
    const { record, run, host, profile } = this.#placeOf(message);
    const lives = record && isRunning(record.status) && run;
    const screen = lives ? await host?.screen(run).catch(() => undefined) : undefined;
    // Reports that arrived while the screen was read count.
    const { standing, restartAt, statusAt: since = null } = this.#queries.get(message.session) ?? {};
    const shown = screen && profile?.screen ? readScreen(profile.screen, screen)?.claim : undefined;
    // Nothing is handed over to an agent whose screen shows nothing known, whatever was known before.
    const isHidden = message.state === "queued" && shown === undefined;
    const isWorking = shown?.turn === "working" || (record !== undefined && this.#turns.mayGoOn(record.id, record.run));
    const turn = standing?.turn && isWorking ? "working" : isHidden ? null : (standing?.turn ?? null);
    const waits = standing?.attention ?? shown?.attention ?? null;
    const situation: Omit<Situation, "steadyMs"> = {
      process: lives
        ? "lives"
        : record?.status === "created"
          ? "created"
          : restartAt
            ? "restarts"
            : record && waitsForNextRun(record)
              ? "broken"
              : "ended",
      sameRun: message.run === null || message.run === record?.run,
      turn,
      attention: waits && !limitIsOver(waits, { turn, since, now: Date.now() }) ? waits.for : null,
      usedUp: message.state === "queued" && record?.budget ? this.#usedUp(record) : null,
      composer: this.#composerOf(message, { record, profile, screen }),
      attempt: { ...this.#attemptOf(message) },
      tells: this.#tells(message),
      joined: this.#joinedAnswer(record, message) !== null,
      channel: run && profile?.channel && ChannelFile.find(this.#home, run, profile.channel)?.has(message.id),
    };
    return { ...situation, steadyMs: this.#steadyMs(message, situation) };
  }

  /**
   * The user's own settings may turn off injected hooks: hooks count once they have reported something. Their report on the message survives the
   * daemon; the status evidence does not.
   */
  #tells(message: SessionMessage): Situation["tells"] {
    const record = this.#queries.get(message.session);
    const rules = (record && this.#profiles.find(record.agent))?.hooks?.rules ?? [];
    const heard = isToldByHook(message) || (record !== undefined && this.#hears(record));
    return {
      prompts: (heard && rules.some(({ prompt }) => prompt !== undefined)) || (record !== undefined && this.#writesPrompts(record)),
      replies:
        (heard && rules.some(({ reply }) => reply !== undefined)) ||
        isWritten(message) ||
        (record !== undefined && this.#writesOutcomes(record)),
    };
  }

  #hears({ id: session, run, standing }: SessionRecord): boolean {
    return this.#status.hears({ session, run }) || (standing?.evidence.some(({ source }) => source === "hook") ?? false);
  }

  #writesPrompts({ id: session, run }: SessionRecord): boolean {
    return this.#status.writesPrompts({ session, run });
  }

  #writesOutcomes({ id: session, run }: SessionRecord): boolean {
    return this.#status.writesOutcomes({ session, run });
  }

  #composerOf(
    message: SessionMessage,
    { record, profile, screen }: { record: SessionRecord | undefined; profile: Profile | undefined; screen: Screen | undefined },
  ): Situation["composer"] {
    // Without paste marks each line would be submitted separately.
    if (!profile?.composer || !screen?.bracketedPaste) return "none";
    if (message.state === "queued" && record && !remembers(record, profile.conversation?.shows, screen)) return "none";
    return whoseText(readComposer(profile.composer, screen), this.said(message));
  }

  #steadyMs(message: SessionMessage, { attempt: _, ...situation }: Omit<Situation, "steadyMs">): number {
    const what = JSON.stringify([message.state, situation]);
    const now = performance.now();
    const seen = this.#seen.get(message.id);
    if (seen?.what === what) return now - seen.since;
    this.#seen.set(message.id, { what, since: now });
    return 0;
  }

  #placeOf({ session }: SessionMessage): {
    record: SessionRecord | undefined;
    run: RunId | undefined;
    host: Host | undefined;
    profile: Profile | undefined;
  } {
    const record = this.#queries.get(session);
    return {
      record,
      run: record && { session, run: record.run },
      host: record && this.#hosts.get(record.host),
      profile: record && this.#profiles.find(record.agent),
    };
  }

  #attemptOf({ id }: SessionMessage): Attempt {
    let attempt = this.#attempts.get(id);
    if (!attempt) {
      attempt = { pasted: 0, entered: 0, sawTurn: null, told: null, into: null, heard: null, reply: null, failure: null };
      this.#attempts.set(id, attempt);
    }
    return attempt;
  }
}
