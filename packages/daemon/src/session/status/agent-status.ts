/**
 * Tracks what the agents of live runs are doing: combines their hook signals, their own files and their screens, and writes each change into the
 * journal. Driven by arriving input; looks.ts decides when to look at a screen.
 *
 * A signal file is deleted once its consequences are written, all in one transaction. Taking it twice changes nothing: evidence carries its own time,
 * and evidence older than what is known has no effect.
 */
import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import {
  type Attention,
  type Claim,
  type EventData,
  type Evidence,
  type Explanation,
  HoldfastError,
  type HostName,
  hasEnded,
  type Screen,
  unwritable,
} from "@holdfast/contract";
import { bootStamp, clockSteps, describe, type Home, log, runDirectory } from "@holdfast/platform";
import { DAEMON } from "../../access/principal.ts";
import { ChatFiles, type Known, type Written } from "../../agent/chat-files.ts";
import { dialogOn } from "../../agent/dialog.ts";
import { readHook, type Signal } from "../../agent/hooks/hook-rules.ts";
import { hasHooks } from "../../agent/hooks/injection.ts";
import { type SignalFile, takeSignals, unreadSignals, watchSignals } from "../../agent/hooks/signal-files.ts";
import { isObserved, type Profile } from "../../agent/profile.ts";
import type { Profiles } from "../../agent/profiles/index.ts";
import { newerThanRecorded, runningVersion } from "../../agent/recorded.ts";
import { startDialogOn } from "../../agent/start-dialog.ts";
import { newestOf, withEvidence } from "../../agent/status/evidence.ts";
import { explain, fuse, LIMIT_REDRAW_MS, REDRAW_MS, SLOW_REDRAW_MS, statusOf } from "../../agent/status/fuse.ts";
import { Looks } from "../../agent/status/looks.ts";
import { readScreen, readTitle, titleRules } from "../../agent/status/screen-rules.ts";
import { readStateFile } from "../../agent/status/state-file.ts";
import { steady } from "../../agent/status/steady.ts";
import { type Host, type RunId, runMarker } from "../../host/host.ts";
import type { Draft, Journal } from "../../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";
import type { News } from "../../record/titles.ts";
import type { RunObserver } from "../run/lifecycle.ts";
import { amendSpec, readSessionFiles } from "../run/run-files.ts";

/** A less trusted source is believed only some time after a more trusted one has reported: look again then. */
const LOOK_AGAIN_MS = REDRAW_MS + 100;
/** An answered dialog disappears while the screen still moves. A person notices a status that is later than this. */
const WAITING_MS = 250;

/** A screen that never settles but says the same for this long counts as settled. */
const UNSETTLED_MS = 2 * REDRAW_MS;

/**
 * Before its first hook, an agent that works for this long has hooks that do not report. Its start shows the same spinner as a turn; Codex gives an
 * MCP server ten seconds.
 */
const DEAF_MS = 15_000;

interface Observed {
  run: RunId;
  profile: Profile;
  evidence: Evidence[];
  /** The claim of the last look, and since when: a moving screen that keeps saying the same counts as settled. */
  lastClaim: { claim: Claim; since: number } | undefined;
  /** When its screen last showed that it waits for a person. */
  waitedAt: number;
  /** The rules that its last title matched. */
  titled: string | undefined;
  /** That title, until a look sees it. */
  unseen: string | undefined;
  /** Its own files, for an agent without hooks, and the conversation last read from them. */
  chat: ChatFiles | undefined;
  chatOf: string | undefined;
  /** Its status according to those files. */
  known: Known | null;
  watcher: FSWatcher | undefined;
  /** Watches the directory of its state file. */
  stateWatcher: FSWatcher | undefined;
  looking: boolean;
  /** When it last showed progress; monotonic. */
  progressAt: number;
  /** Its last screen, without moving parts. */
  steady: string | undefined;
  /** Works, but shows no progress. */
  hung: boolean;
  env: Readonly<Record<string, string>> | undefined;
  /** A hook has reported something. */
  heard: boolean;
  /** It worked for `DEAF_MS`, and no hook reported the turn. */
  deaf: boolean;
  /** Failures of each signal file. */
  failures: Map<string, number>;
}

/** A conversation's status comes from its protocol alone. */
const TALKS: Profile = { name: "conversation", description: "", kind: "terminal", command: [] };

/** Returns what else follows from a signal or a change; written in the same transaction. */
export type StatusFollower = (what: {
  record: SessionRecord;
  signal?: Signal;
  changed?: EventData<"session.status_changed">;
  /** All evidence, as it will be after the pending write. */
  evidence: readonly Evidence[];
  /** The screen, if a look brought the change, and whether it had settled. */
  seen?: { screen: Screen; settled: boolean };
}) => Draft[];

/** An adopted agent's terminal may be out of reach; its own files may still show its status. */
function outOfReach(error: unknown): undefined {
  if (!(error instanceof HoldfastError && error.code === "not_in_reach")) throw error;
}

/** Input that comes with evidence. */
interface Absorbed {
  drafts?: Draft[];
  signal?: Signal;
  seen?: { screen: Screen; settled: boolean };
}

/** Handles the permission requests of agents. */
export interface Parking {
  /** Takes a hook that waits for an answer. Undefined if it waits no longer or its requests are not parked: then its signal only informs. */
  park(asked: { record: SessionRecord; ask: string; signal: Signal }): Parked | undefined;
  /** Ends a hook, without an answer, if its request cannot be read. */
  letGo(run: RunId, ask: string): void;
  /** Called at every sweep. */
  look(run: RunId): void;
  ended(run: RunId): void;
}

export interface Parked {
  drafts: Draft[];
  /** Evidence of the new wait; undefined if it was answered at once. */
  evidence: Evidence | undefined;
  /** Called once the drafts are written. */
  written(): void;
}

export class AgentStatus implements RunObserver, Disposable {
  readonly #home: Home;
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #hosts: ReadonlyMap<HostName, Host>;
  readonly #profiles: Profiles;
  readonly #observed = new Map<string, Observed>();
  readonly #looks = new Looks((marker, settled) => void this.#look(marker, settled));
  readonly #followers: StatusFollower[] = [];
  #steps = clockSteps();
  #parking: Parking | undefined;

  constructor(options: {
    home: Home;
    journal: Journal;
    queries: SessionQueries;
    hosts: ReadonlyMap<HostName, Host>;
    profiles: Profiles;
  }) {
    this.#home = options.home;
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#hosts = options.hosts;
    this.#profiles = options.profiles;
  }

  followWith(follower: StatusFollower): void {
    this.#followers.push(follower);
  }

  parkWith(parking: Parking): void {
    this.#parking = parking;
  }

  [Symbol.dispose](): void {
    this.#looks[Symbol.dispose]();
    for (const observed of this.#observed.values()) close(observed);
    this.#observed.clear();
  }

  began(run: RunId): void {
    const record = this.#queries.get(run.session);
    const profile = record?.kind === "conversation" ? TALKS : record && this.#profiles.find(record.agent);
    if (!record || !profile || !(profile === TALKS || isObserved(profile))) return;
    const marker = runMarker(run);
    if (this.#observed.has(marker)) return;
    const watcher = profile.hooks && watchSignals(runDirectory(this.#home, run.session, run.run), () => this.#takeSignals(run));
    this.#observed.set(marker, {
      run,
      profile,
      evidence: atLatestNow(record.standing?.evidence ?? []),
      lastClaim: undefined,
      waitedAt: 0,
      titled: undefined,
      unseen: undefined,
      chat: undefined,
      chatOf: undefined,
      known: null,
      watcher,
      stateWatcher: undefined,
      looking: false,
      progressAt: performance.now(),
      steady: undefined,
      hung: record.standing?.hung ?? false,
      env: undefined,
      heard: false,
      deaf: false,
      failures: new Map(),
    });
    this.#takeSignals(run);
    if (profile !== TALKS) this.#looks.stir(marker);
  }

  wrote(run: RunId, news?: (words?: RegExp) => News): void {
    const marker = runMarker(run);
    const observed = this.#observed.get(marker);
    if (!observed) return;
    const { screen, urgent } = observed.profile;
    if (news && (urgent || screen?.some(({ title }) => title))) {
      const { titles, hasWords } = news(urgent);
      this.#readTitles(observed, titles);
      if (hasWords) this.#looks.hurry(marker);
    }
    // For an agent with a screen, output may be only a spinner: the screen shows whether there is progress.
    if (observed.profile !== TALKS) this.#looks.stir(marker);
    if (!observed.profile.screen) this.#moved(observed);
  }

  /** A title that matches other rules causes a look soon. */
  #readTitles(observed: Observed, titles: readonly string[]): void {
    const rules = observed.profile.screen ?? [];
    for (const title of titles) {
      const titled = titleRules(rules, title);
      if (titled === observed.titled) continue;
      this.#takeReplaced(observed);
      observed.titled = titled;
      observed.unseen = title;
      this.#looks.hurry(runMarker(observed.run));
    }
  }

  /** Reads a title that another one has replaced before a look has seen it, as in a very short turn. */
  #takeReplaced(observed: Observed): void {
    const { unseen: title } = observed;
    observed.unseen = undefined;
    if (title === undefined || isTold(observed.evidence) || this.#hasSilentHooks(observed)) return;
    const read = readTitle(observed.profile.screen ?? [], title);
    if (!read || read.claim.attention) return;
    this.#followClock();
    const seen = { ...read, at: new Date().toISOString(), settled: false };
    try {
      this.#absorb(observed, withScreen(observed.evidence, seen));
    } catch (error) {
      log(`session ${observed.run.session}: its title cannot be used: ${describe(error)}`);
    }
  }

  /** True if its hooks have not reported yet: at its start an agent may show a spinner that is not a turn. */
  #hasSilentHooks({ run, evidence, deaf }: Observed): boolean {
    return !deaf && !isTold(evidence) && hasHooks(runDirectory(this.#home, run.session, run.run));
  }

  /** True if a hook of the run has reported anything to this daemon. */
  hears(run: RunId): boolean {
    return this.#observed.get(runMarker(run))?.heard ?? false;
  }

  /** True if the agent's own files record each prompt that begins a turn. */
  writesPrompts(run: RunId): boolean {
    return this.#observed.get(runMarker(run))?.chat?.tells ?? false;
  }

  /** True if those files also record how turns end. */
  writesOutcomes(run: RunId): boolean {
    const observed = this.#observed.get(runMarker(run));
    return observed?.chat?.tells === true && observed.profile.transcript?.outcome !== undefined;
  }

  /** Follows the agent's own files as soon as they exist. */
  #followChat(observed: Observed, record: SessionRecord): void {
    const { run, profile } = observed;
    const { conversation } = record;
    if (!profile.transcript?.prompt || conversation === null || hasHooks(runDirectory(this.#home, run.session, run.run))) return;
    observed.env ??= readSessionFiles(this.#home, record.id).env;
    const whose = { conversation, cwd: record.cwd, env: observed.env };
    observed.chat ??= ChatFiles.open(profile.transcript, whose, () => {
      this.#takeChat(observed);
      // Look once the screen shows it: turns are counted then, and another conversation is found.
      this.#looks.order(runMarker(run), LOOK_AGAIN_MS);
    });
    if (observed.chat && observed.chatOf !== conversation) this.#takeChat(observed);
  }

  #takeChat(observed: Observed): void {
    try {
      this.#takeWritten(observed);
    } catch (error) {
      // The next look reads the files again from the start of the run.
      observed.chat?.[Symbol.dispose]();
      observed.chat = undefined;
      observed.chatOf = undefined;
      this.#looks.order(runMarker(observed.run), 2000);
      log(`session ${observed.run.session}: its own files cannot be used: ${describe(error)}`);
    }
  }

  #takeWritten(observed: Observed): void {
    const record = this.#queries.get(observed.run.session);
    const { chat, env } = observed;
    if (!record || !chat || !env || record.conversation === null || record.startedAt === null) return;
    const isFirst = observed.chatOf === undefined;
    observed.chatOf = record.conversation;
    const { written, known } = chat.read({ conversation: record.conversation, cwd: record.cwd, env }, record.startedAt);
    const { named } = observed.profile.transcript ?? {};
    const wasWorking = observed.known?.turn === "working" || (!isFirst && written.some((one) => one.known?.turn === "working"));
    // No answer is pending any more: the screen shows what the agent does now.
    if (wasWorking && known?.turn !== "working") this.#looks.hurry(runMarker(observed.run));
    observed.known = known;
    if (written.length > 0) this.#moved(observed);
    const countedUntil = isFirst ? this.#countedUntil(observed, record) : "";
    for (const { known: then, ...one } of written) {
      // A turn may begin and end between two readings.
      const isNews = one.at > countedUntil && (then !== null || named);
      const evidence = isNews ? withKnown(observed.evidence, then) : observed.evidence;
      this.#absorb(observed, evidence, { signal: asSignal(one, record.conversation) });
    }
    if (isFirst && (known !== null || named)) this.#absorb(observed, withKnown(observed.evidence, known));
  }

  /**
   * The time until when entries of the first reading claim no turn: the session did not exist yet, or the screen has shown the turn. An agent may
   * write a prompt down only after it has drawn its turn.
   */
  #countedUntil({ profile }: Observed, { id, createdAt }: SessionRecord): string {
    // The turns of other agents are counted from their files when they rest.
    if (!profile.transcript?.uncounted) return "~";
    const shown = this.#queries.lastTurnAt(id);
    if (shown === null) return createdAt;
    return [createdAt, new Date(Date.parse(shown) + SLOW_REDRAW_MS).toISOString()].sort().at(-1) ?? createdAt;
  }

  /** Working runs, each with the time since its last progress and whether it is known to hang. */
  working(): { record: SessionRecord; stillMs: number; hung: boolean }[] {
    return [...this.#observed.values()].flatMap(({ run, progressAt, hung }) => {
      const record = this.#queries.get(run.session);
      if (record?.status !== "working" || record.run !== run.run) return [];
      return [{ record, stillMs: performance.now() - progressAt, hung }];
    });
  }

  /** Marks a working run that shows no progress any more. */
  markHung(run: RunId): void {
    const observed = this.#observed.get(runMarker(run));
    if (!observed || observed.hung) return;
    observed.hung = true;
    this.#absorb(observed, observed.evidence);
  }

  /** Records progress: the agent's tools used processor time, or it wrote to its files. */
  markMoving(run: RunId): void {
    const observed = this.#observed.get(runMarker(run));
    if (observed) this.#moved(observed);
  }

  #moved(observed: Observed): void {
    observed.progressAt = performance.now();
    if (!observed.hung) return;
    observed.hung = false;
    this.#absorb(observed, observed.evidence);
  }

  /** Reads what a file watch would have reported, if a watch is missing. */
  look(run: RunId): void {
    if (this.#observed.get(runMarker(run))?.profile.hooks) this.#takeSignals(run);
    this.#parking?.look(run);
  }

  /** Takes the last signals of a run that has ended, then forgets it. */
  ended(run: RunId): void {
    const marker = runMarker(run);
    const observed = this.#observed.get(marker);
    this.#takeSignals(run);
    // An agent without hooks may have written to its own files after the last look.
    if (observed && !hasHooks(runDirectory(this.#home, run.session, run.run))) this.#absorb(observed, observed.evidence);
    this.#parking?.ended(run);
    if (observed) close(observed);
    this.#looks.forget(marker);
    this.#observed.delete(marker);
  }

  /** Takes evidence from elsewhere, such as a resolved approval. The drafts are written in the same transaction. */
  learn(run: RunId, evidence: Evidence, drafts: Draft[] = []): void {
    const observed = this.#observed.get(runMarker(run));
    const record = this.#queries.get(run.session);
    if (!observed || !record || hasEnded(record.status) || record.run !== run.run) {
      if (drafts.length > 0) this.#journal.append(...drafts);
      return;
    }
    const known = withEvidence(observed.evidence, evidence);
    // Include its own file: the turn may have ended together with the approval.
    const file = this.#stateIfReadable(observed, record);
    this.#absorb(observed, file ? withEvidence(known, file) : known, { drafts });
    if (observed.profile !== TALKS) this.#looks.order(runMarker(run), LOOK_AGAIN_MS);
  }

  /** The source by which the agent is known to wait, if it does: the end of the wait is known no better. */
  waitsBy(run: RunId): Evidence["source"] | undefined {
    const attention = fuse(this.#observed.get(runMarker(run))?.evidence ?? []).attention;
    return attention?.value ? attention.evidence.source : undefined;
  }

  /** Reads its screen and its own file right now. */
  async reading(run: RunId): Promise<{ screen: Screen | undefined; shown: Attention | null; file: Evidence | undefined } | undefined> {
    const observed = this.#observed.get(runMarker(run));
    const record = this.#queries.get(run.session);
    if (!observed || !record || hasEnded(record.status) || record.run !== run.run) return undefined;
    const { profile } = observed;
    const screen = profile.screen ? await this.#hosts.get(record.host)?.screen(run).catch(outOfReach) : undefined;
    // The run may have ended meanwhile.
    if (this.#observed.get(runMarker(run)) !== observed) return undefined;
    const read = screen && withDialog(profile, screen, readScreen(profile.screen ?? [], screen));
    return { screen, shown: read?.claim.attention ?? null, file: this.#stateIfReadable(observed, record) };
  }

  /** Schedules a look at its screen, even without new output. */
  lookAgain(run: RunId, inMs: number): void {
    if (this.#observed.has(runMarker(run))) this.#looks.order(runMarker(run), inMs);
  }

  explain(record: SessionRecord): Explanation {
    const profile = this.#profiles.find(record.agent);
    const seen = this.#observed.get(runMarker({ session: record.id, run: record.run }));
    const evidence = hasEnded(record.status) ? [] : (seen?.evidence ?? record.standing?.evidence ?? []);
    const has: [Explanation["sources"][number], unknown][] = [
      ["hook", profile?.hooks && hasHooks(runDirectory(this.#home, record.id, record.run))],
      ["state_file", profile?.stateFile ?? seen?.chat],
      ["title", profile?.screen?.some(({ title }) => title)],
      ["screen", profile?.screen?.some(({ line, foot, without }) => line ?? foot ?? without)],
      ["processes", profile?.leavesUntold],
    ];
    if (record.kind === "conversation") return { sources: ["protocol"], ...explain(evidence), unread: [], newer: null };
    const sources = profile?.untested ? [] : has.flatMap(([source, there]) => (there ? [source] : []));
    const isRunning = !hasEnded(record.status) && record.pid !== null && !profile?.own;
    const newer = isRunning ? newerThanRecorded(record.agent, runningVersion(record.pid ?? 0, record.agent)) : null;
    return { sources, ...explain(evidence), unread: unreadSignals(runDirectory(this.#home, record.id, record.run)), newer };
  }

  /** Evidence carries the time of day: when the clock is set, shift known evidence, or nothing new would count as newer. */
  #followClock(): void {
    const step = clockSteps() - this.#steps;
    if (step === 0) return;
    this.#steps += step;
    for (const observed of this.#observed.values()) {
      observed.evidence = observed.evidence.map((one) => ({ ...one, at: new Date(Date.parse(one.at) + step).toISOString() }));
    }
  }

  #takeSignals(run: RunId): void {
    const observed = this.#observed.get(runMarker(run));
    if (!observed?.profile.hooks) return;
    this.#followClock();
    try {
      takeSignals(runDirectory(this.#home, run.session, run.run), {
        take: (file) => this.#take(observed, file),
        failures: observed.failures,
        onAside: ({ ask }) => ask !== undefined && this.#parking?.letGo(run, ask),
      });
    } catch (error) {
      // The signal files stay, and are tried again with the next signal and at every sweep.
      log(`session ${run.session}: messages of its hooks cannot be used: ${describe(error)}`);
    }
  }

  #take(observed: Observed, { at, payload, ask }: SignalFile): void {
    const record = this.#queries.get(observed.run.session);
    const { hooks } = observed.profile;
    observed.progressAt = performance.now();
    observed.hung = false;
    observed.heard = true;
    const signal = hooks && readHook(hooks, payload, at, ask !== undefined);
    const parked = record && signal && ask !== undefined ? this.#parking?.park({ record, ask, signal }) : undefined;
    if (parked) {
      const { drafts, evidence } = parked;
      this.#absorb(observed, evidence ? withEvidence(observed.evidence, evidence) : observed.evidence, { drafts, signal });
      parked.written();
    } else if (record && signal && isOwn(signal, record)) {
      const drafts: Draft[] = [];
      const { conversation } = signal;
      if (conversation !== null && conversation !== record.conversation) {
        drafts.push({
          type: "session.conversation_changed",
          actor: DAEMON,
          session: record.id,
          data: { run: observed.run.run, conversation },
        });
      }
      const evidence = { source: "hook", at, claim: signal.claim, what: signal.event } as const satisfies Evidence;
      this.#absorb(observed, withEvidence(observed.evidence, evidence), { drafts, signal });
      if (conversation !== null && conversation !== record.conversation) amendSpec(this.#home, record.id, { conversation });
      this.#looks.order(runMarker(observed.run), LOOK_AGAIN_MS);
    }
  }

  async #look(marker: string, settled: boolean): Promise<void> {
    const observed = this.#observed.get(marker);
    if (!observed) return;
    if (observed.looking) return this.#looks.stir(marker);
    observed.looking = true;
    try {
      await this.#lookAt(observed, settled);
    } catch (error) {
      // A program that has just ended has no screen; its end is reported another way.
      if (this.#observed.has(marker) && !hasEnded(this.#queries.get(observed.run.session)?.status ?? "lost")) {
        log(`session ${observed.run.session}: its screen cannot be read: ${describe(error)}`);
      }
    } finally {
      observed.looking = false;
    }
  }

  async #lookAt(observed: Observed, settled: boolean): Promise<void> {
    const record = this.#queries.get(observed.run.session);
    const host = record && this.#hosts.get(record.host);
    if (!record || !host || hasEnded(record.status)) return;
    const { profile, run } = observed;
    const screen = profile.screen ? await host.screen(run).catch(outOfReach) : undefined;
    if (this.#observed.get(runMarker(run)) !== observed) return;
    this.#followClock();
    // The screen may already have the next title, which is yet to be read.
    if (screen && titleRules(profile.screen ?? [], screen.title) !== observed.titled) this.#takeReplaced(observed);
    observed.unseen = undefined;
    const shown = screen && steady(screen.lines);
    if (shown === undefined || shown !== observed.steady) this.#moved(observed);
    observed.steady = shown;
    const read = screen && withDialog(profile, screen, readScreen(profile.screen ?? [], screen));
    let evidence = observed.evidence;
    const file = this.#stateOf(observed, record);
    if (file) evidence = withEvidence(evidence, file);
    if (observed.chat && !profile.stateFile) evidence = withKnown(evidence, observed.known);
    if (read) {
      const now = Date.now();
      const { lastClaim } = observed;
      const since = lastClaim && saysTheSame(lastClaim.claim, read.claim) ? lastClaim.since : now;
      observed.lastClaim = { claim: read.claim, since };
      if (read.claim.attention) observed.waitedAt = now;
      const before = evidence.find((one) => one.settled && isScreen(one) && (one.claim.turn ?? one.claim.attention) !== undefined);
      // A settled screen from before the agent's latest report is about to change.
      const toldAt = Math.max(0, ...evidence.filter(isTelling).map(({ at }) => Date.parse(at)));
      const goesOn = before !== undefined && Date.parse(before.at) > toldAt && saysTheSame(before.claim, read.claim);
      // The outcome of a retry after a rate limit is not known yet.
      const isTry =
        read.claim.turn === "working" && !read.claim.attention && evidence.some(({ claim }) => claim.attention?.for === "rate_limit");
      // No half-drawn frame contains the text of a rate limit.
      const isLimit = read.claim.attention?.for === "rate_limit";
      const heldMs = now - Math.max(since, toldAt);
      // A spinner does not count where a hook would have reported the turn, even if a slow start leaves it still for a while.
      const isSpinner = read.claim.turn === "working" && !read.claim.attention && this.#hasSilentHooks(observed);
      if (isSpinner && heldMs >= DEAF_MS) observed.deaf = true;
      const isSettled = (settled && !isTry) || heldMs >= UNSETTLED_MS;
      const stays = isLimit || goesOn || (isSettled && (!isSpinner || observed.deaf));
      // Each look replaces the previous one: what it no longer sees is over. A moving screen does not replace a settled one that is weighed against
      // the agent's own report.
      // The title of a wait may come before its dialog, which says what to answer.
      const isAhead = read.source === "title" && Boolean(read.claim.attention) && !settled;
      const isDoubtful = isTry || isAhead || (isTold(evidence) ? before !== undefined : isSpinner);
      if (isUndrawn(observed, read.claim, now)) this.#looks.order(runMarker(run), LOOK_AGAIN_MS);
      else if (stays || !isDoubtful) evidence = withScreen(evidence, { ...read, at: new Date(now).toISOString(), settled: stays });
      else this.#looks.order(runMarker(run), LOOK_AGAIN_MS);
    } else if (settled) {
      evidence = withoutScreens(evidence);
    }
    this.#absorb(observed, evidence, screen ? { seen: { screen, settled } } : {});
    this.#followChat(observed, this.#queries.get(run.session) ?? record);
    if (read && contradicts(read.claim, evidence)) this.#looks.order(runMarker(run), believedIn(read.claim, evidence));
    else if (!settled && asksPerson(evidence)) this.#looks.order(runMarker(run), WAITING_MS);
    this.#followState(observed, record);
  }

  /** Watches Claude's state file: it is newer than the screen, and changes when nothing is drawn. */
  #followState(observed: Observed, record: SessionRecord): void {
    const { stateFile } = observed.profile;
    if (!stateFile || observed.stateWatcher || record.pid === null || observed.env === undefined) return;
    const path = stateFile.path({ pid: record.pid, env: observed.env });
    try {
      observed.stateWatcher = watch(dirname(path), { persistent: false }, (_, name) => {
        if (name === null || name === basename(path)) this.#takeState(observed);
      });
      observed.stateWatcher.on("error", () => {
        observed.stateWatcher?.close();
      });
    } catch {
      // The directory does not exist yet, or no watch is left: each look reads the file.
    }
  }

  #takeState(observed: Observed): void {
    const record = this.#queries.get(observed.run.session);
    if (!record || this.#observed.get(runMarker(observed.run)) !== observed) return;
    this.#followClock();
    const file = this.#stateIfReadable(observed, record);
    if (!file) return;
    try {
      this.#absorb(observed, withEvidence(observed.evidence, file));
    } catch (error) {
      log(`session ${observed.run.session}: its state file cannot be used: ${describe(error)}`);
    }
    this.#looks.order(runMarker(observed.run), LOOK_AGAIN_MS);
  }

  /** Answers must not fail on damaged session files; a look at the screen reports the damage. */
  #stateIfReadable(observed: Observed, record: SessionRecord): Evidence | undefined {
    try {
      return this.#stateOf(observed, record);
    } catch {
      return undefined;
    }
  }

  #stateOf(observed: Observed, record: SessionRecord): Evidence | undefined {
    const { stateFile } = observed.profile;
    if (!stateFile || record.pid === null || record.startedAt === null) return undefined;
    observed.env ??= readSessionFiles(this.#home, record.id).env;
    return readStateFile(stateFile, { pid: record.pid, env: observed.env, startedAt: record.startedAt });
  }

  /** Writes to the journal first, then updates the evidence. */
  #absorb(observed: Observed, evidence: Evidence[], more: Absorbed = {}): void {
    const record = this.#queries.get(observed.run.session);
    if (!record || hasEnded(record.status) || record.run !== observed.run.run) return;
    const changed = changeOf(record, evidence, observed.hung);
    const { signal, seen } = more;
    const what = { record, evidence, ...(signal ? { signal } : {}), ...(changed ? { changed } : {}), ...(seen ? { seen } : {}) };
    const followed = this.#followers.flatMap((follower) => follower(what));
    // Turns counted just now come before a turn that begins, which gets the next number.
    const counted = followed.filter(({ type }) => type === "session.turns_counted");
    const drafts: Draft[] = [...(more.drafts ?? []), ...counted];
    if (changed) drafts.push({ type: "session.status_changed", actor: DAEMON, session: record.id, data: changed });
    drafts.push(...followed.filter((draft) => !counted.includes(draft)));
    if (drafts.length > 0) {
      try {
        this.#journal.append(...drafts);
      } catch (error) {
        if (signal || more.drafts || !unwritable(error)) throw error;
        // On a full disk, look at the screen again later.
        this.#looks.order(runMarker(observed.run), 2000);
        return;
      }
    }
    if (changed?.turnBegan) observed.progressAt = performance.now();
    observed.evidence = evidence;
  }
}

function close({ watcher, stateWatcher, chat }: Observed): void {
  watcher?.close();
  stateWatcher?.close();
  chat?.[Symbol.dispose]();
}

/** Milliseconds until the screen is believed over the agent's own report. */
function believedIn(shown: Claim, evidence: readonly Evidence[]): number {
  const toldAt = Math.max(0, ...evidence.filter(isTelling).map(({ at }) => Date.parse(at)));
  const late = shown.attention?.for === "rate_limit" ? LIMIT_REDRAW_MS : REDRAW_MS;
  return Math.min(LOOK_AGAIN_MS, Math.max(50, toldAt + late + 10 - Date.now()));
}

function asksPerson(evidence: readonly Evidence[]): boolean {
  const attention = fuse(evidence).attention?.value;
  return attention !== null && attention !== undefined && attention.for !== "rate_limit";
}

/** A signal of another conversation belongs to a subagent, or to a dialogue of the agent with itself. */
export function isOwn(
  { conversation, opens }: Pick<Signal, "conversation" | "opens">,
  { conversation: own, standing }: Pick<SessionRecord, "conversation" | "standing">,
): boolean {
  const isFirst = !standing?.evidence.some(({ source }) => source === "hook");
  return opens === true || (opens === "first" && isFirst) || conversation === null || own === null || conversation === own;
}

/** Corrects evidence from the future: the clock was set back while no daemon ran, or an agent wrote it. */
function atLatestNow(evidence: readonly Evidence[]): Evidence[] {
  const now = new Date().toISOString();
  return evidence.map((one) => (one.at > now ? { ...one, at: now } : one));
}

/** True if a source more trusted than the screen reports the turn. */
function isTold(evidence: readonly Evidence[]): boolean {
  return evidence.some((one) => isTelling(one) && one.claim.turn !== undefined);
}

function isTelling({ source }: Evidence): boolean {
  return source !== "screen" && source !== "title" && source !== "processes";
}

/** True if the agent reported that it waits, and its screen has not shown it yet. The end of a wait shows only after its dialog was seen. */
function isUndrawn({ evidence, waitedAt }: Observed, shown: Claim, now: number): boolean {
  const told = newestOf(evidence, "hook", "attention");
  const toldAt = told?.claim.attention ? Date.parse(told.at) : 0;
  return !shown.attention && waitedAt < toldAt && now < toldAt + SLOW_REDRAW_MS;
}

/** Compares two claims regardless of their wording. */
function saysTheSame(a: Claim, b: Claim): boolean {
  return a.turn === b.turn && a.attention?.for === b.attention?.for && a.background === b.background;
}

/** Replaces the evidence from the agent's own files, for an agent without hooks or a state file. */
function withKnown(evidence: readonly Evidence[], known: Known | null): Evidence[] {
  const others = evidence.filter(({ source }) => source !== "state_file");
  if (known === null) return others;
  // A turn that is over waits for nobody.
  const told: Omit<Evidence, "at"> =
    known.turn === "working"
      ? { source: "state_file", claim: { turn: "working" }, what: "its model has not answered yet" }
      : { source: "state_file", claim: { turn: "idle", attention: null }, what: "its turn is over" };
  return [...others, ...atLatestNow([{ ...told, at: known.at }])];
}

function asSignal(written: Omit<Written, "known">, conversation: string): Signal {
  const nothing = { prompt: null, reply: null, failure: null, tool: null, directory: null };
  const event = "prompt" in written ? "prompt" : "outcome";
  return { event, claim: {}, conversation, opens: undefined, ...nothing, ...written, written: true };
}

/** A screen that says nothing about background work, as in a turn, keeps the claim of the previous screen, with its time. */
export function withScreen(evidence: readonly Evidence[], seen: Evidence): Evidence[] {
  const before = evidence.find((one) => isScreen(one) && one.claim.background !== undefined);
  const kept = before && seen.claim.background === undefined ? [{ ...before, claim: { background: before.claim.background } }] : [];
  return [...withoutScreens(evidence), ...kept, seen];
}

function withoutScreens(evidence: readonly Evidence[]): Evidence[] {
  return evidence.filter((one) => !isScreen(one));
}

function isScreen({ source }: Evidence): boolean {
  return source === "screen" || source === "title";
}

/** Adds the dialog's text, if it can be read: it says more than the line that identified the dialog. */
function withDialog<R extends { claim: Evidence["claim"] }>(profile: Profile, screen: Screen, read: R | undefined): R | undefined {
  const { attention } = read?.claim ?? {};
  const channel = profile.approvals?.screen;
  const dialogs = profile.approvals?.dialogs;
  const dialog =
    attention?.for === "trust" || attention?.for === "login"
      ? startDialogOn(dialogs, { what: attention.for, screen })
      : channel && attention?.for === "approval"
        ? dialogOn(channel, screen)
        : undefined;
  return read && attention && dialog ? { ...read, claim: { ...read.claim, attention: { ...attention, text: dialog.about } } } : read;
}

/** True if the screen's claim is not believed for now. */
function contradicts(claim: Evidence["claim"], evidence: readonly Evidence[]): boolean {
  const { turn, attention } = fuse(evidence);
  return (
    (claim.turn !== undefined && claim.turn !== turn?.value && !turn?.evidence.held) ||
    (claim.attention !== undefined && claim.attention?.for !== attention?.value?.for && !attention?.evidence.held)
  );
}

/** Undefined if nothing noticeable changed. */
export function changeOf(record: SessionRecord, evidence: Evidence[], hung: boolean): EventData<"session.status_changed"> | undefined {
  const standing = fuse(evidence);
  const status = statusOf(standing);
  const now = {
    turn: standing.turn?.value ?? null,
    attention: standing.attention?.value ?? null,
    background: standing.background?.value ?? null,
    hung: hung && status === "working",
  };
  const { turn = null, attention = null, background = null, hung: wasHung = false } = record.standing ?? {};
  const waits = JSON.stringify(now.attention) !== JSON.stringify(attention);
  if (status === record.status && !waits && now.turn === turn && now.background === background && now.hung === wasHung) return undefined;
  const decisive = (now.attention ? standing.attention : standing.turn)?.evidence.at ?? new Date().toISOString();
  const same = status === record.status && !waits && record.statusAt !== null;
  const since = same ? record.statusAt : decisive;
  const sinceBoot = same ? (record.standing?.sinceBoot ?? null) : (bootStamp(Math.min(0, Date.parse(decisive) - Date.now())) ?? null);
  return {
    run: record.run,
    status,
    since: since ?? decisive,
    sinceBoot,
    ...now,
    turnBegan: turn !== "working" && now.turn === "working" && !wasTold(record, standing.turn?.evidence),
    evidence,
  };
}

/** True if a hook or the agent's own file reported this turn before, and the screen contradicted it only for a while. */
function wasTold({ standing }: SessionRecord, by: Evidence | undefined): boolean {
  return (
    (by?.source === "hook" || by?.source === "state_file") &&
    (standing?.evidence ?? []).some(({ source, at }) => source === by.source && at === by.at)
  );
}
