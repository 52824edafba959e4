/**
 * What the agents of live runs are doing: brings together what their hooks tell, what they keep in files and what their screens show, and
 * writes each change into the journal. Driven by what arrives; see looks.ts for when a screen is looked at.
 *
 * A hook's file is deleted when what follows from it is written, all of it in one transaction. Taken twice it changes nothing: evidence
 * carries its own time, and what is older than what is known says nothing new.
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
import { DAEMON } from "../access/principal.ts";
import { ChatFiles, type Known, type Written } from "../agent/chat-files.ts";
import { dialogOn } from "../agent/dialog.ts";
import { readHook, type Signal } from "../agent/hooks/hook-rules.ts";
import { hasHooks } from "../agent/hooks/injection.ts";
import { type SignalFile, takeSignals, unreadSignals, watchSignals } from "../agent/hooks/signal-files.ts";
import { isObserved, type Profile } from "../agent/profile.ts";
import type { Profiles } from "../agent/profiles/index.ts";
import { newerThanRecorded, runningVersion } from "../agent/recorded.ts";
import { startDialogOn } from "../agent/start-dialog.ts";
import { newestOf, withEvidence } from "../agent/status/evidence.ts";
import { explain, fuse, LIMIT_REDRAW_MS, REDRAW_MS, SLOW_REDRAW_MS, statusOf } from "../agent/status/fuse.ts";
import { Looks } from "../agent/status/looks.ts";
import { readScreen, readTitle, titleRules } from "../agent/status/screen-rules.ts";
import { readStateFile } from "../agent/status/state-file.ts";
import { steady } from "../agent/status/steady.ts";
import { type Host, type RunId, runMarker } from "../host/host.ts";
import type { Draft, Journal } from "../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import type { News } from "../record/titles.ts";
import type { RunObserver } from "./lifecycle.ts";
import { amendSpec, readSessionFiles } from "./run-files.ts";

/** What a less trusted source saw is believed only some time after what a more trusted one said: then look again. */
const LOOK_AGAIN_MS = REDRAW_MS + 100;
/** A dialog that was answered goes while the screen moves. A person sees a status that is later than this as late. */
const WAITING_MS = 250;

/** A screen that never comes to rest and says the same for this long is believed as one at rest. */
const UNSETTLED_MS = 2 * REDRAW_MS;

interface Observed {
  run: RunId;
  profile: Profile;
  evidence: Evidence[];
  /** Of the last look, and since when: a screen that moves on and says the same is as good as one at rest. */
  lastClaim: { claim: Claim; since: number } | undefined;
  /** When its screen last showed that it waits for somebody. */
  waitedAt: number;
  /** Which rules its last title was about. */
  titled: string | undefined;
  /** What it writes down itself, of one that tells nothing by hooks, and of which conversation that was last read. */
  chat: ChatFiles | undefined;
  chatOf: string | undefined;
  /** What it does, by that. */
  known: Known | null;
  watcher: FSWatcher | undefined;
  /** Of the directory of its state file. */
  stateWatcher: FSWatcher | undefined;
  looking: boolean;
  /** When it last got anything done, as far as it shows; monotonic. */
  progressAt: number;
  /** What its screen showed then, beside its moving parts. */
  steady: string | undefined;
  /** Works, but nothing moves. */
  hung: boolean;
  env: Readonly<Record<string, string>> | undefined;
  /** Of files of its hooks. */
  failures: Map<string, number>;
}

/** Of a conversation, what it does is told by its protocol alone. */
const TALKS: Profile = { name: "conversation", description: "", kind: "terminal", command: [] };

/** What else follows from a signal or a change; written in the same transaction. */
export type StatusFollower = (what: {
  record: SessionRecord;
  signal?: Signal;
  changed?: EventData<"session.status_changed">;
  /** All that is known, if what is about to be written is. */
  evidence: readonly Evidence[];
  /** What was just seen, where a look is what brought it, and whether it had come to rest. */
  seen?: { screen: Screen; settled: boolean };
}) => Draft[];

/** Of an adopted agent on a terminal that only its user can reach, its own files may still tell. */
function outOfReach(error: unknown): undefined {
  if (!(error instanceof HoldfastError && error.code === "not_in_reach")) throw error;
}

/** What comes with evidence. */
interface Absorbed {
  drafts?: Draft[];
  signal?: Signal;
  seen?: { screen: Screen; settled: boolean };
}

/** Who sees to what agents ask leave for. */
export interface Parking {
  /** Of a hook that waits for an answer; undefined when it waits no longer, or its requests are not parked: then it only told. */
  park(asked: { record: SessionRecord; ask: string; signal: Signal }): Parked | undefined;
  /** A hook whose question nobody can read ends without an answer. */
  letGo(run: RunId, ask: string): void;
  /** Now and then, and when the run begins or has ended. */
  look(run: RunId): void;
  ended(run: RunId): void;
}

export interface Parked {
  drafts: Draft[];
  /** What it waits for from now on; undefined when it was answered at once. */
  evidence: Evidence | undefined;
  /** When that is written. */
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
    // Of one with a screen, output may be a spinner that turns: what it shows tells.
    if (observed.profile !== TALKS) this.#looks.stir(marker);
    if (!observed.profile.screen) this.#moved(observed);
  }

  /** One that is about something else is looked at soon; of one that was replaced meanwhile nobody will see more than this. */
  #readTitles(observed: Observed, titles: readonly string[]): void {
    const rules = observed.profile.screen ?? [];
    for (const [i, title] of titles.entries()) {
      const titled = titleRules(rules, title);
      if (titled === observed.titled) continue;
      observed.titled = titled;
      this.#looks.hurry(runMarker(observed.run));
      const isAlone = !isTold(observed.evidence) && !this.#hasSilentHooks(observed);
      const read = i < titles.length - 1 && isAlone ? readTitle(rules, title) : undefined;
      if (!read) continue;
      this.#followClock();
      const seen = { ...read, at: new Date().toISOString(), settled: false };
      try {
        this.#absorb(observed, withScreen(observed.evidence, seen));
      } catch (error) {
        log(`session ${observed.run.session}: its title cannot be used: ${describe(error)}`);
      }
    }
  }

  /** They would tell, and have not told anything yet: at its start an agent may show a spinner that is no turn. */
  #hasSilentHooks({ run, evidence }: Observed): boolean {
    return !isTold(evidence) && hasHooks(runDirectory(this.#home, run.session, run.run));
  }

  /** Whether each prompt that begins a turn is told by what it writes down itself. */
  writesPrompts(run: RunId): boolean {
    return this.#observed.get(runMarker(run))?.chat?.tells ?? false;
  }

  /** Whether how those turns end is, too. */
  writesOutcomes(run: RunId): boolean {
    const observed = this.#observed.get(runMarker(run));
    return observed?.chat?.tells === true && observed.profile.transcript?.outcome !== undefined;
  }

  /** Its own files, from the time on that they are there. */
  #followChat(observed: Observed, record: SessionRecord): void {
    const { run, profile } = observed;
    const { conversation } = record;
    if (!profile.transcript?.prompt || conversation === null || hasHooks(runDirectory(this.#home, run.session, run.run))) return;
    observed.env ??= readSessionFiles(this.#home, record.id).env;
    const whose = { conversation, cwd: record.cwd, env: observed.env };
    observed.chat ??= ChatFiles.open(profile.transcript, whose, () => {
      this.#takeChat(observed);
      // When its screen has come to show it: turns are counted then, and another conversation is found.
      this.#looks.order(runMarker(run), LOOK_AGAIN_MS);
    });
    if (observed.chat && observed.chatOf !== conversation) this.#takeChat(observed);
  }

  #takeChat(observed: Observed): void {
    try {
      this.#takeWritten(observed);
    } catch (error) {
      // Read again from the start of the run at the next look.
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
    // What was written before anybody followed it is over, or shows on its screen.
    const isFirst = observed.chatOf === undefined;
    observed.chatOf = record.conversation;
    const { written, known } = chat.read({ conversation: record.conversation, cwd: record.cwd, env }, record.startedAt);
    const { named } = observed.profile.transcript ?? {};
    const wasWorking = observed.known?.turn === "working" || (!isFirst && written.some((one) => one.known?.turn === "working"));
    // What it owes no more it may do something with: its screen tells.
    if (wasWorking && known?.turn !== "working") this.#looks.hurry(runMarker(observed.run));
    observed.known = known;
    if (written.length > 0) this.#moved(observed);
    for (const { known: knownThen, ...one } of written) {
      // A turn may begin and end between two readings.
      const then = isFirst ? known : knownThen;
      const evidence = then === null && !named ? observed.evidence : withKnown(observed.evidence, then);
      this.#absorb(observed, evidence, { signal: asSignal(one, record.conversation) });
    }
  }

  /** Runs that should do something: for how long none of them showed any progress, and whether it is known to hang. */
  working(): { record: SessionRecord; stillMs: number; hung: boolean }[] {
    return [...this.#observed.values()].flatMap(({ run, progressAt, hung }) => {
      const record = this.#queries.get(run.session);
      if (record?.status !== "working" || record.run !== run.run) return [];
      return [{ record, stillMs: performance.now() - progressAt, hung }];
    });
  }

  /** Nothing of it moves any more, though it works. */
  markHung(run: RunId): void {
    const observed = this.#observed.get(runMarker(run));
    if (!observed || observed.hung) return;
    observed.hung = true;
    this.#absorb(observed, observed.evidence);
  }

  /** What it started computes, or it wrote something down. */
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

  /** What notices would have said, where there are none. */
  look(run: RunId): void {
    if (this.#observed.get(runMarker(run))?.profile.hooks) this.#takeSignals(run);
    this.#parking?.look(run);
  }

  /** The last words of a run that has ended; then nothing more. */
  ended(run: RunId): void {
    const marker = runMarker(run);
    const observed = this.#observed.get(marker);
    this.#takeSignals(run);
    // What it has no hooks to say, it may have written down itself after the last look.
    if (observed && !hasHooks(runDirectory(this.#home, run.session, run.run))) this.#absorb(observed, observed.evidence);
    this.#parking?.ended(run);
    if (observed) close(observed);
    this.#looks.forget(marker);
    this.#observed.delete(marker);
  }

  /** Something is known from elsewhere: an approval that is over. What is written with it is in the same transaction. */
  learn(run: RunId, evidence: Evidence, drafts: Draft[] = []): void {
    const observed = this.#observed.get(runMarker(run));
    const record = this.#queries.get(run.session);
    if (!observed || !record || hasEnded(record.status) || record.run !== run.run) {
      if (drafts.length > 0) this.#journal.append(...drafts);
      return;
    }
    const known = withEvidence(observed.evidence, evidence);
    // What its own file says by now is known as well: its turn may be over with what it asked for.
    const file = this.#stateIfReadable(observed, record);
    this.#absorb(observed, file ? withEvidence(known, file) : known, { drafts });
    if (observed.profile !== TALKS) this.#looks.order(runMarker(run), LOOK_AGAIN_MS);
  }

  /** By what it is known to wait, if it does: that it waits no more is known no better. */
  waitsBy(run: RunId): Evidence["source"] | undefined {
    const attention = fuse(this.#observed.get(runMarker(run))?.evidence ?? []).attention;
    return attention?.value ? attention.evidence.source : undefined;
  }

  /** What its screen shows and its own file says right now. */
  async reading(run: RunId): Promise<{ screen: Screen | undefined; shown: Attention | null; file: Evidence | undefined } | undefined> {
    const observed = this.#observed.get(runMarker(run));
    const record = this.#queries.get(run.session);
    if (!observed || !record || hasEnded(record.status) || record.run !== run.run) return undefined;
    const { profile } = observed;
    const screen = profile.screen ? await this.#hosts.get(record.host)?.screen(run).catch(outOfReach) : undefined;
    // Its run may have ended meanwhile.
    if (this.#observed.get(runMarker(run)) !== observed) return undefined;
    const read = screen && withDialog(profile, screen, readScreen(profile.screen ?? [], screen));
    return { screen, shown: read?.claim.attention ?? null, file: this.#stateIfReadable(observed, record) };
  }

  /** Its screen is looked at in a while, also when nothing comes. */
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

  /** Evidence carries the time of day: when somebody sets the clock, what is known moves along, or nothing new would be newer. */
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
      // They stay where they are, and are tried again with the next one and at every sweep.
      log(`session ${run.session}: messages of its hooks cannot be used: ${describe(error)}`);
    }
  }

  #take(observed: Observed, { at, payload, ask }: SignalFile): void {
    const record = this.#queries.get(observed.run.session);
    const { hooks } = observed.profile;
    observed.progressAt = performance.now();
    observed.hung = false;
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
      // A program that has just ended has no screen; its end comes by another way.
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
      const before = evidence.find(({ source, settled: is }) => is && (source === "screen" || source === "title"));
      // What was at rest before the agent told something else is on its way out.
      const toldAt = Math.max(0, ...evidence.filter(isTelling).map(({ at }) => Date.parse(at)));
      const goesOn = before !== undefined && Date.parse(before.at) > toldAt && saysTheSame(before.claim, read.claim);
      // Nobody knows yet what comes of the next try after a limit.
      const isTry =
        read.claim.turn === "working" && !read.claim.attention && evidence.some(({ claim }) => claim.attention?.for === "rate_limit");
      // No half-drawn frame has the words of a limit.
      const isLimit = read.claim.attention?.for === "rate_limit";
      const stays = (settled && !isTry) || isLimit || goesOn || now - Math.max(since, toldAt) >= UNSETTLED_MS;
      // A look replaces the one before: what it does not see any more is not so any more. What moves does not replace what was at rest, where
      // that is weighed against what the agent told; nor does a spinner count, where a hook would have told of a turn.
      const isSpinner = read.claim.turn === "working" && this.#hasSilentHooks(observed);
      const isDoubtful = isTry || (isTold(evidence) ? before !== undefined : isSpinner);
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

  /** Claude's file is newer than its screen, and changes when nothing is drawn. */
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
      // There is no directory yet, or no watch left: the file is read with each look.
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

  /** An answer is given also where the session's own files are damaged; a look at its screen says so. */
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

  /** In the journal first, then believed. */
  #absorb(observed: Observed, evidence: Evidence[], more: Absorbed = {}): void {
    const record = this.#queries.get(observed.run.session);
    if (!record || hasEnded(record.status) || record.run !== observed.run.run) return;
    const changed = changeOf(record, evidence, observed.hung);
    const { signal, seen } = more;
    const what = { record, evidence, ...(signal ? { signal } : {}), ...(changed ? { changed } : {}), ...(seen ? { seen } : {}) };
    const followed = this.#followers.flatMap((follower) => follower(what));
    // A turn that begins gets the number after those that were counted before it.
    const counted = followed.filter(({ type }) => type === "session.turns_counted");
    const drafts: Draft[] = [...(more.drafts ?? []), ...counted];
    if (changed) drafts.push({ type: "session.status_changed", actor: DAEMON, session: record.id, data: changed });
    drafts.push(...followed.filter((draft) => !counted.includes(draft)));
    if (drafts.length > 0) {
      try {
        this.#journal.append(...drafts);
      } catch (error) {
        if (signal || more.drafts || !unwritable(error)) throw error;
        // On a full disk what the screen shows is looked at again later.
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

/** Milliseconds until the screen is believed against what the agent has told. */
function believedIn(shown: Claim, evidence: readonly Evidence[]): number {
  const toldAt = Math.max(0, ...evidence.filter(isTelling).map(({ at }) => Date.parse(at)));
  const late = shown.attention?.for === "rate_limit" ? LIMIT_REDRAW_MS : REDRAW_MS;
  return Math.min(LOOK_AGAIN_MS, Math.max(50, toldAt + late + 10 - Date.now()));
}

function asksPerson(evidence: readonly Evidence[]): boolean {
  const attention = fuse(evidence).attention?.value;
  return attention !== null && attention !== undefined && attention.for !== "rate_limit";
}

/** A conversation that is not the session's is a subagent's, or one that the agent holds with itself. */
export function isOwn(
  { conversation, opens }: Pick<Signal, "conversation" | "opens">,
  { conversation: own, standing }: Pick<SessionRecord, "conversation" | "standing">,
): boolean {
  const isFirst = !standing?.evidence.some(({ source }) => source === "hook");
  return opens === true || (opens === "first" && isFirst) || conversation === null || own === null || conversation === own;
}

/** The clock was set back while no daemon ran. */
function atLatestNow(evidence: readonly Evidence[]): Evidence[] {
  const now = new Date().toISOString();
  return evidence.map((one) => (one.at > now ? { ...one, at: now } : one));
}

/** Whether anything more trusted than its screen says what it does. */
function isTold(evidence: readonly Evidence[]): boolean {
  return evidence.some((one) => isTelling(one) && one.claim.turn !== undefined);
}

function isTelling({ source }: Evidence): boolean {
  return source !== "screen" && source !== "title" && source !== "processes";
}

/** It has told that it waits, and its screen has not come to that yet; that it waits no more is shown by a dialog that went. */
function isUndrawn({ evidence, waitedAt }: Observed, shown: Claim, now: number): boolean {
  const told = newestOf(evidence, "hook", "attention");
  const toldAt = told?.claim.attention ? Date.parse(told.at) : 0;
  return !shown.attention && waitedAt < toldAt && now < toldAt + SLOW_REDRAW_MS;
}

/** In whatever words. */
function saysTheSame(a: Claim, b: Claim): boolean {
  return a.turn === b.turn && a.attention?.for === b.attention?.for && a.background === b.background;
}

/** What an agent without hooks or a state file of its own has written down, and nothing but that. */
function withKnown(evidence: readonly Evidence[], known: Known | null): Evidence[] {
  const others = evidence.filter(({ source }) => source !== "state_file");
  if (known === null) return others;
  const what = known.turn === "working" ? "its model has not answered yet" : "its turn is over";
  return [...others, { source: "state_file", at: known.at, claim: { turn: known.turn }, what }];
}

function asSignal(written: Omit<Written, "known">, conversation: string): Signal {
  const nothing = { prompt: null, reply: null, failure: null, tool: null, directory: null };
  const event = "prompt" in written ? "prompt" : "outcome";
  return { event, claim: {}, conversation, opens: undefined, ...nothing, ...written, written: true };
}

/** A screen that says nothing about background work, as in a turn, does not end what the screen before said about it. */
export function withScreen(evidence: readonly Evidence[], seen: Evidence): Evidence[] {
  const before = evidence.find(({ source, claim }) => (source === "screen" || source === "title") && claim.background !== undefined);
  const claim = before ? { background: before.claim.background, ...seen.claim } : seen.claim;
  return [...withoutScreens(evidence), { ...seen, claim }];
}

function withoutScreens(evidence: readonly Evidence[]): Evidence[] {
  return evidence.filter(({ source }) => source !== "screen" && source !== "title");
}

/** Where its dialog can be read, that says more than the line by which it is known. */
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

/** Whether what is on the screen is not believed, for now. */
function contradicts(claim: Evidence["claim"], evidence: readonly Evidence[]): boolean {
  const { turn, attention } = fuse(evidence);
  return (
    (claim.turn !== undefined && claim.turn !== turn?.value && !turn?.evidence.held) ||
    (claim.attention !== undefined && claim.attention?.for !== attention?.value?.for && !attention?.evidence.held)
  );
}

/** Undefined: nothing that anybody would notice is different. */
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

/** What a hook or the agent's own file told, and the screen had contradicted and does not any more, is of the same turn. */
function wasTold({ standing }: SessionRecord, by: Evidence | undefined): boolean {
  return (
    (by?.source === "hook" || by?.source === "state_file") &&
    (standing?.evidence ?? []).some(({ source, at }) => source === by.source && at === by.at)
  );
}
