/**
 * The inbox: what agents ask leave for waits here until somebody answers, a rule of config.toml does, or it is over.
 *
 * A request is in the journal in the same transaction as the status `waiting`, and an answer before its hook hears of it; a hook that has
 * not heard of it when the daemon dies hears of it from the next one. Keys cannot be pressed again in doubt: an answer by keys is in the journal
 * when the dialog has gone, and before it that keys are about to be pressed. The next daemon finds the dialog, or finds it gone. Nothing is held in memory that a restart would lose: who waits is in
 * the journal, and whether it still does is what its FIFO says (agent/hooks/answer-files.ts).
 *
 * To end a hook without a decision is always safe: no profile names a channel whose agent then goes on as if it had been allowed.
 */
import type { FSWatcher } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Approval,
  type ApprovalRequest,
  type Decision,
  type Evidence,
  HoldfastError,
  type HostName,
  hasEnded,
  type Principal,
  type Screen,
  type SessionId,
} from "@holdfast/contract";
import { describe, type Home, log, runDirectory } from "@holdfast/platform";
import { DAEMON } from "../access/principal.ts";
import { type ApprovalChannels, DENIED, type HookChannel } from "../agent/approvals.ts";
import { type Background, backgroundOf } from "../agent/background.ts";
import { dialogOn } from "../agent/dialog.ts";
import { WaitingHook, waitingAsks, watchAnswers } from "../agent/hooks/answer-files.ts";
import type { Profiles } from "../agent/profiles/index.ts";
import { choiceOf, choicesIn, startDialogOn } from "../agent/start-dialog.ts";
import { fuse } from "../agent/status/fuse.ts";
import { type Host, type RunId, runMarker } from "../host/host.ts";
import type { Draft, Journal } from "../journal/journal.ts";
import type { ApprovalQueries, ApprovalRecord } from "../projection/approvals.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import type { AgentStatus, Parked, Parking, StatusFollower } from "../session/agent-status.ts";
import { readSpec } from "../session/run-files.ts";
import type { Turns } from "../session/typing.ts";
import { answerByChoice } from "./by-choice.ts";
import { answerByKeys, type Pressed } from "./by-keys.ts";
import { calmByTool, checkToolAnswer, toolRequest, waitingByTool } from "./by-tool.ts";
import { attentionOf, isOver, isTaken } from "./over.ts";
import { changed, noChoice, noEffect, noReason, notAllShown, notTaken, onlyOnce, over, tooLong, unanswerable } from "./refusals.ts";
import {
  answered,
  answering,
  digestOf,
  type How,
  isDue,
  isStart,
  type ProtocolAsk,
  protocolRequest,
  reopened,
  requestOf,
  resolved,
  shown,
  shownRequest,
  waiting,
  waitingByProtocol,
} from "./request.ts";
import { decide, type Rule } from "./rules.ts";
import { stillAsks } from "./taken.ts";
import type { WorktreeTrust } from "./worktree-trust.ts";

/** The longest that a timer can wait. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The dialog of a request that was answered goes within this time, on a busy machine too. */
const GOES_MS = 10_000;

/** An answer that has an effect shows it within so many looks after its hook has ended: 2 s, and longer where a busy machine makes each look slow. */
const TAKEN_LOOKS = 18;
const LOOK_MS = 100;
/** So many looks in a row. */
const STANDS = 3;

type Followed = Parameters<StatusFollower>[0];

export interface Answer {
  decision: Decision;
  reason?: string | undefined;
  /** Not only this once. */
  always?: boolean;
  /** Of what was shown to whoever answers. */
  digest?: string | undefined;
  actor: Principal;
}

const ANYTHING = { agent: undefined, tool: undefined, pattern: undefined, directory: undefined, compound: true };

export class Approvals implements Parking, Disposable {
  readonly #home: Home;
  readonly #journal: Journal;
  readonly #queries: ApprovalQueries;
  readonly #sessions: SessionQueries;
  readonly #profiles: Profiles;
  readonly #status: AgentStatus;
  readonly #rules: readonly Rule[];
  readonly #background: Background;
  readonly #hosts: ReadonlyMap<HostName, Host>;
  readonly #typing: () => Turns;
  readonly #worktrees: WorktreeTrust | undefined;
  /** Of runs with a hook that waits. */
  readonly #watchers = new Map<string, FSWatcher | undefined>();
  /** Ids of what is over, and its hook could not be told so. */
  readonly #untold = new Set<string>();
  /** Ids of those for which keys are being pressed: that their dialog goes is the answer. */
  readonly #pressing = new Set<string>();
  /** Answers of which it is not known yet whether they had an effect. */
  readonly #unproved = new Map<string, { approval: ApprovalRecord; proved: AbortController; over: Promise<void> }>();
  /** Whose dialog has been on the screen. */
  readonly #shown = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #tellAgent: ((approval: ApprovalRecord) => void) | undefined;

  constructor(options: {
    home: Home;
    journal: Journal;
    queries: ApprovalQueries;
    sessions: SessionQueries;
    profiles: Profiles;
    status: AgentStatus;
    rules: readonly Rule[];
    /** What agents begin with where no person is attached. */
    background?: Background;
    hosts: ReadonlyMap<HostName, Host>;
    typing: () => Turns;
    worktrees?: WorktreeTrust;
  }) {
    this.#home = options.home;
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#sessions = options.sessions;
    this.#profiles = options.profiles;
    this.#status = options.status;
    this.#rules = options.rules;
    this.#background = options.background ?? {};
    this.#hosts = options.hosts;
    this.#typing = options.typing;
    this.#worktrees = options.worktrees;
  }

  /** Who tells agents that speak a protocol what was decided. */
  tellWith(tell: (approval: ApprovalRecord) => void): void {
    this.#tellAgent = tell;
  }

  /** What the daemon before did not come to: answers that were given and not heard, hooks that ended meanwhile. */
  begin(): void {
    const live = this.#sessions.live();
    const runs = new Set(live.map(({ id, run }) => runMarker({ session: id, run })));
    for (const approval of this.#queries.list({ sessions: live.map(({ id }) => id) })) {
      if (!runs.has(runMarker(approval))) continue;
      if (approval.status !== "open") this.#tellAgain(approval);
      else if (approval.channel === "hook") this.#watch(approval);
    }
    for (const { session, run } of this.#queries.list({ open: true })) this.look({ session, run });
    for (const { id, run } of live) this.#letGoUnknown({ session: id, run });
    this.#answerTrusted();
    this.#arm();
  }

  /** What a hook asked that a lost journal knew of, nobody knows any more: it ends, and its agent asks by itself. */
  #letGoUnknown(of: RunId): void {
    for (const ask of waitingAsks(runDirectory(this.#home, of.session, of.run))) {
      if (!this.#queries.byAsk(of.session, of.run, ask)) this.letGo(of, ask);
    }
  }

  letGo({ session, run }: RunId, ask: string): void {
    using hook = WaitingHook.find(runDirectory(this.#home, session, run), ask);
    hook?.answer("");
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const { proved } of this.#unproved.values()) proved.abort();
    for (const watcher of this.#watchers.values()) watcher?.close();
    this.#watchers.clear();
  }

  list(filter: { all: boolean; sessions?: readonly SessionId[] | undefined }): Approval[] {
    return this.#queries.list({ open: !filter.all, sessions: filter.sessions }).map((approval) => this.#show(approval));
  }

  get(ref: string, within?: readonly SessionId[]): Approval {
    return this.#show(this.#queries.resolve(ref, within));
  }

  knows(id: string): boolean {
    return this.#queries.get(id) !== undefined;
  }

  #show(approval: ApprovalRecord): Approval {
    return shown(approval, this.#profiles.find(approval.agent)?.approvals);
  }

  park({ record, ask, signal }: Parameters<Parking["park"]>[0]): Parked | undefined {
    const channel = this.#channelOf(record.agent);
    if (!channel) return undefined;
    const known = this.#queries.byAsk(record.id, record.run, ask);
    // Taken once already, by a daemon that died before it could delete the file.
    if (known)
      return { drafts: [], evidence: known.status === "open" ? waiting(known, channel) : undefined, written: () => this.#tell(known) };
    using hook = WaitingHook.find(runDirectory(this.#home, record.id, record.run), ask);
    if (!hook) return undefined;
    if (signal.claim.attention?.for === "question" && !channel.answer) {
      hook.answer("");
      return undefined;
    }
    const asked = requestOf({ record, ask, signal, channel });
    const requested: Draft = { type: "approval.requested", actor: DAEMON, session: record.id, data: asked };
    const ruled = decide(this.#rulesFor(record), { ...asked, input: signal.tool?.input ?? null, agent: record.agent });
    const { id, run, text } = asked;
    if (ruled) {
      const data = { id, run, decision: ruled.decision, reason: ruled.reason, text };
      const answered: Draft = { type: "approval.answered", actor: ruled.rule, session: record.id, data };
      const written = () => {
        this.#tell(this.#queries.get(id));
        this.#prove(id);
      };
      return { drafts: [requested, answered], evidence: undefined, written };
    }
    // Nobody allows what nobody can read.
    if (asked.input === null && signal.tool?.input != null) {
      hook.answer("");
      return undefined;
    }
    return {
      drafts: [requested],
      evidence: waiting({ ...asked, requestedAt: signal.at }, channel),
      written: () => {
        this.#watch({ ...asked, session: record.id });
        this.#arm();
      },
    };
  }

  /** Behind all rules, the policy for agents that were started without a person; not while one has it on a terminal. */
  #rulesFor(record: SessionRecord): readonly Rule[] {
    const profile = this.#profiles.find(record.agent);
    const { approval } = profile ? backgroundOf(profile, this.#background) : {};
    if (approval === undefined || record.attachments.length > 0 || !readSpec(this.#home, record.id)?.background) return this.#rules;
    const reason = approval === "deny" ? "no person is attached, and [agents.background] denies it" : undefined;
    return [...this.#rules, { ...ANYTHING, name: "agents.background", decision: approval, reason }];
  }

  /** Of an agent that speaks a protocol: it waits until it is told, or its turn is over. */
  asked(record: SessionRecord, asked: ProtocolAsk): Parked {
    const known = this.#queries.byAsk(record.id, record.run, asked.ask);
    if (known)
      return { drafts: [], evidence: known.status === "open" ? waitingByProtocol(known) : undefined, written: () => this.#tell(known) };
    const data = protocolRequest(record, asked);
    const requested: Draft = { type: "approval.requested", actor: DAEMON, session: record.id, data };
    const ruled = decide(this.#rulesFor(record), { ...data, input: asked.input, agent: record.agent });
    if (!ruled) return { drafts: [requested], evidence: waitingByProtocol({ ...data, requestedAt: asked.at }), written: () => {} };
    const answer = { id: data.id, run: data.run, decision: ruled.decision, reason: ruled.reason, text: data.text };
    const answered: Draft = { type: "approval.answered", actor: ruled.rule, session: record.id, data: answer };
    return { drafts: [requested, answered], evidence: undefined, written: () => this.#tell(this.#queries.get(data.id)) };
  }

  /** By a tool of ours. Whoever asked comes back for what became of it. */
  request(record: SessionRecord, request: ApprovalRequest, actor: Principal): Approval {
    if (hasEnded(record.status)) throw new HoldfastError("session_ended", `${record.name} has ended and cannot ask for anything`);
    const data = toolRequest(record, request);
    const requested: Draft = { type: "approval.requested", actor, session: record.id, data };
    const ruled = decide(this.#rulesFor(record), { ...data, agent: record.agent });
    if (ruled) {
      const answer = { id: data.id, run: data.run, decision: ruled.decision, reason: ruled.reason, text: data.text };
      this.#journal.append(requested, { type: "approval.answered", actor: ruled.rule, session: record.id, data: answer });
    } else {
      const requestedAt = new Date().toISOString();
      this.#status.learn({ session: record.id, run: record.run }, waitingByTool({ ...data, requestedAt }, record.kind), [requested]);
    }
    return this.get(data.id);
  }

  /** Nobody waits for it any more. */
  withdraw(ref: string, { within, actor }: { within?: readonly SessionId[] | undefined; actor: Principal }): Approval {
    const approval = this.#queries.resolve(ref, within);
    if (approval.status !== "open") throw over(approval);
    if (approval.channel !== "tool") throw unanswerable(approval, "deny");
    this.#conclude(approval, { ...resolved(approval, "withdrawn"), actor });
    return this.get(approval.id);
  }

  /** When it is over, or the time is. */
  async over(ref: string, { within, signal }: { within?: readonly SessionId[] | undefined; signal: AbortSignal }): Promise<Approval> {
    const { id } = this.#queries.resolve(ref, within);
    for (;;) {
      const { seq } = this.#journal.cursor;
      const approval = this.get(id, within);
      if (approval.status !== "open" || signal.aborted) return approval;
      await this.#journal.changed(seq, signal);
    }
  }

  /** It was cancelled with its turn, or decided where the agent is. */
  settled(record: SessionRecord, ask: string): Draft[] {
    const known = this.#queries.byAsk(record.id, record.run, ask);
    return known?.status === "open" ? [resolved(known, "withdrawn")] : [];
  }

  /** What its signals, its files and its screen say about what it asked for. */
  readonly follow: StatusFollower = (what) => [...this.#followHooks(what), ...this.#followScreen(what)];

  #followHooks({ record, signal, evidence }: Followed): Draft[] {
    const channel = this.#channelOf(record.agent);
    for (const { approval, proved } of this.#unproved.values()) {
      if (signal && channel && approval.session === record.id && isTaken(approval, signal, channel)) proved.abort();
    }
    const open = channel ? this.#queries.openOf(record.id, record.run) : [];
    return open.flatMap((approval): Draft[] => {
      if (approval.ask === null || !isHooks(approval) || !channel || !isOver(approval, { signal, evidence, channel, shown: this.#shown }))
        return [];
      // When it is written; if it cannot be, it is still open then, and stays so.
      setImmediate(() => this.#tell(this.#queries.get(approval.id)));
      this.#shown.delete(approval.id);
      return [resolved(approval, channel.promptsToo ? "elsewhere" : "withdrawn")];
    });
  }

  /** What is asked on the screen alone is in the inbox for as long as it is on the screen. */
  #followScreen({ record, evidence, seen }: Followed): Draft[] {
    const channels = this.#profiles.find(record.agent)?.approvals;
    if (!channels || !seen) return [];
    const all = this.#queries.openOf(record.id, record.run);
    const wanted = fuse(evidence).attention?.value ?? null;
    // What is asked by a tool does not show.
    const attention = all.some(({ channel, text }) => channel === "tool" && text === wanted?.text) ? null : wanted;
    const start = isStart(attention?.for) ? attention.for : undefined;
    const asks = start !== undefined || (channels.screen && (attention?.for === "approval" || attention?.for === "question"));
    // What is being drawn is no dialog yet, or none any more.
    if (asks && !seen.settled) return [];
    const open = all.filter((approval) => approval.channel !== "tool");
    const dialog = start
      ? startDialogWithChoices(channels, start, seen.screen)
      : attention?.for === "approval" && channels.screen
        ? dialogOn(channels.screen, seen.screen)
        : undefined;
    const isSame = ({ for: what }: ApprovalRecord) => (start === undefined ? !isStart(what) : what === start);
    const isShown = (approval: ApprovalRecord) => asks && isSame(approval) && approval.dialog === (dialog?.text ?? null);
    const gone = open.filter((approval) => approval.ask === null && !this.#pressing.has(approval.id) && !isShown(approval));
    const drafts = gone.map((approval) => resolved(approval, "elsewhere"));
    if (!asks || !attention || gone.length < open.length) return drafts;
    if (this.#answeredLately(record, dialog?.text ?? null)) {
      this.#status.lookAgain({ session: record.id, run: record.run }, GOES_MS);
      return drafts;
    }
    const data = shownRequest(record, { attention, dialog });
    // When it is written.
    if (start === "trust") setImmediate(() => this.#answerTrusted());
    return [...drafts, { type: "approval.requested", actor: DAEMON, session: record.id, data }];
  }

  /** The dialog of what was just answered may still be there; another one is another request. Of a hook's it is not known how it looks. */
  #answeredLately({ id, run }: SessionRecord, shown: string | null): boolean {
    return this.#queries
      .answered(id, run)
      .some(({ at, dialog }) => Math.abs(Date.now() - Date.parse(at)) < GOES_MS && (dialog === null || dialog === shown));
  }

  answer(ref: string, answer: Answer): Approval | Promise<Approval> {
    const approval = this.#queries.resolve(ref);
    if (approval.status !== "open") throw over(approval);
    if (answer.digest !== undefined && answer.digest !== digestOf(approval)) throw changed(approval);
    if (answer.always && (approval.channel !== "protocol" || answer.decision !== "allow")) throw onlyOnce(approval);
    if (approval.channel === "screen") return this.#answerOnScreen(approval, answer);
    if (approval.channel === "protocol") return this.#answerByProtocol(approval, answer);
    if (approval.channel === "tool") return this.#answerByTool(approval, answer);
    this.#wordsOf(approval, answer);
    if (isDue(approval)) {
      this.#resolve(approval, "timed_out");
      throw over({ ...approval, status: "timed_out" });
    }
    using hook = this.#hookOf(approval);
    if (!hook) {
      this.#resolve(approval, "withdrawn");
      throw over({ ...approval, status: "withdrawn" });
    }
    this.#conclude(approval, answered(approval, answer));
    this.#tell(this.#queries.get(approval.id));
    this.#prove(approval.id);
    return this.get(approval.id);
  }

  /** The same once it is known whether the answer had an effect; throws if it had none. */
  async answerAndProve(ref: string, answer: Answer): Promise<Approval> {
    const { id } = await this.answer(ref, answer);
    await this.#unproved.get(id)?.over;
    const approval = this.get(id);
    if (approval.status === "open") throw noEffect(approval);
    return approval;
  }

  #tellAgain(approval: ApprovalRecord): void {
    this.#tell(approval);
    const isRecent = Math.abs(Date.now() - Date.parse(approval.endedAt ?? "")) < GOES_MS;
    if (approval.channel === "hook" && approval.answeredBy !== null && isRecent) this.#prove(approval.id);
  }

  #prove(id: string): void {
    const approval = this.#queries.get(id);
    if (approval?.channel !== "hook" || approval.endedAt === null) return;
    const proved = new AbortController();
    const over = this.#seeTaken(approval, approval.endedAt, proved.signal)
      .catch((error: unknown) => log(`approval ${id}: it is not known whether its answer was accepted: ${describe(error)}`))
      .finally(() => this.#unproved.delete(id));
    this.#unproved.set(id, { approval, proved, over });
  }

  /** Until something proves that the answer had an effect; if nothing does and its dialog stands, the request is open again. */
  async #seeTaken(approval: ApprovalRecord, answeredAt: string, proved: AbortSignal): Promise<void> {
    const run = { session: approval.session, run: approval.run };
    let looks = 0;
    let stood = 0;
    for (;;) {
      await sleep(LOOK_MS, undefined, { ref: false, signal: proved }).catch(() => {});
      if (proved.aborted) return;
      // It has not heard the answer yet.
      looks = this.#isWaiting(approval) ? 0 : looks + 1;
      const reading = await this.#status.reading(run);
      if (proved.aborted || !reading) return;
      const asks = stillAsks(reading, answeredAt);
      if (asks === false) return;
      if (looks < TAKEN_LOOKS) continue;
      // What else it waits for has a dialog, too.
      if (!asks || this.#queries.openOf(run.session, run.run).length > 0) return;
      // The hook of the next request may be about to tell.
      if (++stood < STANDS) continue;
      return this.#reopen(approval, reading);
    }
  }

  #isWaiting(approval: ApprovalRecord): boolean {
    using hook = this.#hookOf(approval);
    return hook !== undefined;
  }

  #reopen(approval: ApprovalRecord, { screen }: { screen: Screen | undefined }): void {
    const run = { session: approval.session, run: approval.run };
    const channel = this.#profiles.find(approval.agent)?.approvals?.screen;
    const dialog = channel && screen && dialogOn(channel, screen);
    const at = new Date().toISOString();
    const what = "the answer had no effect: it still asks on its screen";
    const evidence: Evidence = { source: "hook", at, claim: { turn: "working", attention: attentionOf(approval) }, what };
    this.#status.learn(run, evidence, [reopened(approval, dialog?.text ?? null)]);
  }

  #answerByProtocol(approval: ApprovalRecord, answer: Answer): Approval {
    if (answer.decision === "answer") throw unanswerable(approval, answer.decision);
    if (answer.reason !== undefined) throw noReason(approval);
    if (approval.unshown && answer.decision === "allow") throw tooLong(approval);
    this.#conclude(approval, answered(approval, answer));
    this.#tell(this.#queries.get(approval.id));
    return this.get(approval.id);
  }

  #answerByTool(approval: ApprovalRecord, answer: Answer): Approval {
    checkToolAnswer(approval, answer);
    this.#conclude(approval, answered(approval, answer));
    return this.get(approval.id);
  }

  #answerOnScreen(approval: ApprovalRecord, answer: Answer): Promise<Approval> {
    const { dialog } = approval;
    const { decision } = answer;
    if (isStart(approval.for)) return this.#answerAtStart(approval, answer);
    const channel = this.#profiles.find(approval.agent)?.approvals?.screen;
    if (!channel?.keys || decision === "answer" || approval.for === "question") throw unanswerable(approval, decision);
    if (dialog === null || channel.hidden?.test(dialog)) throw notAllShown(approval);
    return this.#press(approval, answer, (how) => answerByKeys({ ...how, channel, dialog, decision }));
  }

  /** In a dialog that it shows before it works. Trust in one worktree of a repository is trust in its others. */
  async #answerAtStart(approval: ApprovalRecord, given: Answer): Promise<Approval> {
    const answer = given.decision === "answer" ? this.#chosen(approval, given) : given;
    const answered = await this.#choose(approval, answer);
    const record = this.#sessions.get(approval.session);
    if (answer.decision === "allow" && record && this.#worktrees?.add(record, approval.dialog ?? "", answer.actor)) this.#answerTrusted();
    return answered;
  }

  /** Of all choices that its dialog shows, the one that was said. That of `allow` or `deny` is that decision. */
  #chosen(approval: ApprovalRecord, answer: Answer): Answer {
    const shown = this.#choicesOf(approval);
    if (!shown) throw unanswerable(approval, answer.decision);
    const choice = choiceOf(shown.choices, answer.reason ?? "");
    if (choice === undefined) throw noChoice(approval, answer.reason ?? "", shown.choices);
    const { allow, deny } = shown.dialog.choices ?? {};
    if (allow?.test(choice)) return { ...answer, decision: "allow", reason: undefined };
    return deny?.test(choice) ? { ...answer, decision: "deny", reason: undefined } : { ...answer, reason: choice };
  }

  #choicesOf({ agent, dialog, for: what }: ApprovalRecord) {
    const dialogs = this.#profiles.find(agent)?.approvals?.dialogs?.filter((each) => each.for === what);
    return dialog === null ? undefined : choicesIn(dialogs, dialog);
  }

  async #choose(approval: ApprovalRecord, answer: Answer): Promise<Approval> {
    const { dialog, for: what } = approval;
    const { decision, reason } = answer;
    const dialogs = this.#profiles.find(approval.agent)?.approvals?.dialogs;
    const choices = this.#choicesOf(approval)?.dialog.choices;
    const isAnswerable = decision === "answer" || choices !== undefined;
    if (!dialogs || dialog === null || !isStart(what) || !isAnswerable) throw unanswerable(approval, decision);
    const isMeant = (words: string) => (decision === "answer" ? words === reason : (choices?.[decision].test(words) ?? false));
    return this.#press(approval, answer, (how) => answerByChoice({ ...how, dialogs, what, dialog, isMeant }));
  }

  /**
   * A person's decision for all worktrees of a repository is the answer in each: in those that wait now, and in later ones. Such an answer adds no
   * trust: the person may revoke it meanwhile.
   */
  #answerTrusted(): void {
    for (const approval of this.#queries.list({ open: true })) {
      if (approval.for !== "trust" || approval.dialog === null || this.#pressing.has(approval.id)) continue;
      const record = this.#sessions.get(approval.session);
      const trust = record && this.#worktrees?.of(record, approval.dialog);
      if (!trust) continue;
      this.#choose(approval, { decision: "allow", actor: trust.by }).catch((error: unknown) => {
        // It stays in the inbox, for a person.
        if (this.#isOpen(approval))
          log(`approval ${approval.id}: its folder is trusted, but its dialog was not answered: ${describe(error)}`);
      });
    }
  }

  /** Presses keys in the agent's dialog, in turn with all else that is typed there. */
  #press(
    approval: ApprovalRecord,
    answer: Answer,
    act: (how: { host: Host; run: RunId; pressing(): void }) => Promise<Pressed>,
  ): Promise<Approval> {
    const { session, run } = approval;
    const host = this.#hosts.get(this.#sessions.get(session)?.host ?? "tmux");
    if (!host) throw unanswerable(approval, answer.decision);
    if (answer.reason !== undefined && answer.decision !== "answer") throw noReason(approval);
    return this.#typing().inTurn(session, async () => {
      const now = this.#queries.get(approval.id);
      if (now?.status !== "open") throw over(now ?? approval);
      // What it does is not known for sure: then no key is pressed.
      if (this.#sessions.get(session)?.status !== "waiting") throw unanswerable(approval, answer.decision);
      const pressing = () => void this.#journal.append(answering(approval, answer));
      this.#pressing.add(approval.id);
      let pressed: Pressed;
      try {
        pressed = await act({ host, run: { session, run }, pressing });
        if (pressed === "taken" && this.#isOpen(approval)) this.#conclude(approval, answered(approval, answer));
      } finally {
        this.#pressing.delete(approval.id);
      }
      this.#status.lookAgain({ session, run }, GOES_MS);
      if (pressed === "taken") return this.get(approval.id);
      if (pressed === "deaf") throw notTaken(approval);
      if (pressed === "unsafe") throw unanswerable(approval, answer.decision);
      this.#resolve(approval, "elsewhere");
      throw over({ ...approval, status: "elsewhere" });
    });
  }

  #isOpen({ id }: ApprovalRecord): boolean {
    return this.#queries.get(id)?.status === "open";
  }

  look(run: RunId): void {
    for (const approval of this.#queries.openOf(run.session, run.run)) {
      if (approval.ask === null || !isHooks(approval)) continue;
      using hook = this.#hookOf(approval);
      if (hook) continue;
      this.#resolve(approval, this.#whyGone(approval));
    }
    for (const id of this.#untold) this.#tell(this.#queries.get(id));
    this.#unwatch(run);
  }

  #whyGone(approval: ApprovalRecord): How {
    if (isDue(approval)) return "timed_out";
    if (this.#sessions.get(approval.session)?.stopRequested) return "run_ended";
    return this.#channelOf(approval.agent)?.endedByAnswer ? "elsewhere" : "withdrawn";
  }

  ended(run: RunId): void {
    const open = this.#queries.openOf(run.session, run.run);
    if (open.length > 0) this.#journal.append(...open.map((approval) => resolved(approval, "run_ended")));
    for (const { id } of open) this.#shown.delete(id);
    this.#unwatch(run);
    // An agent that was killed has left its hooks behind, and nobody else would ever end them.
    try {
      for (const ask of waitingAsks(runDirectory(this.#home, run.session, run.run))) this.letGo(run, ask);
    } catch (error) {
      // As on a full disk: they are listed among the orphans.
      log(`session ${run.session}: hooks left by its run cannot be ended: ${describe(error)}`);
    }
  }

  /** Ended by the agent's own time-out, or by us just after it: then it asks on its screen. */
  #expire(): void {
    for (const approval of this.#queries.list({ open: true })) if (isDue(approval)) this.#resolve(approval, "timed_out");
    this.#arm();
  }

  #resolve(approval: ApprovalRecord, how: How): void {
    this.#conclude(approval, resolved(approval, how));
    this.#tell(this.#queries.get(approval.id));
  }

  /** That it is over and what the agent does then are one fact. */
  #conclude(approval: ApprovalRecord, draft: Draft): void {
    const run = { session: approval.session, run: approval.run };
    const [next] = this.#queries.openOf(run.session, run.run).filter(({ id }) => id !== approval.id);
    const channel = this.#channelOf(approval.agent);
    const now = new Date().toISOString();
    const what = `${draft.type}: ${approval.text}`;
    const kind = this.#sessions.get(run.session)?.kind ?? "terminal";
    const calm =
      approval.channel === "tool"
        ? calmByTool(kind, { at: now, what })
        : this.#calm(approval, { at: now, what, turn: draft.type === "approval.answered" });
    const more = next && (isHooks(next) ? channel && waiting(next, channel) : byProtocolOrTool(next, kind));
    this.#status.learn(run, more ? { ...more, at: now } : calm, [draft]);
    this.#shown.delete(approval.id);
    this.#unwatch(run);
  }

  /** After an answer its turn goes on. What is over without one may be over with its turn; and behind a dialog at its start nothing works yet. */
  #calm({ session, run, channel, for: asked }: ApprovalRecord, { at, what, turn }: { at: string; what: string; turn: boolean }): Evidence {
    const source = channel === "hook" || channel === "protocol" ? channel : (this.#status.waitsBy({ session, run }) ?? "screen");
    return { source, at, claim: turn && !isStart(asked) ? { turn: "working", attention: null } : { attention: null }, what };
  }

  /**
   * Whatever became of it, its hook hears of it, again if need be; when there was no decision, that there is none. What cannot be told now, on a
   * full disk for example, is told at the next look.
   */
  #tell(approval: ApprovalRecord | undefined): void {
    if (!approval || approval.status === "open" || approval.ask === null) return;
    if (approval.channel === "protocol") {
      if (approval.answeredBy !== null) this.#tellAgent?.(approval);
      return;
    }
    if (approval.channel === "tool") return;
    try {
      using hook = this.#hookOf(approval);
      if (hook && !hook.answer(this.#answerOf(approval))) log(`approval ${approval.id}: the agent ended its hook before it got the answer`);
      this.#untold.delete(approval.id);
    } catch (error) {
      if (!this.#untold.has(approval.id)) log(`approval ${approval.id}: its hook cannot be answered yet: ${describe(error)}`);
      this.#untold.add(approval.id);
    }
  }

  #answerOf(approval: ApprovalRecord): string {
    const decision = { allowed: "allow", denied: "deny", answered: "answer" }[approval.status as string] as Decision | undefined;
    if (decision === undefined || approval.answeredBy === null) return "";
    return this.#wordsOf(approval, { decision, reason: approval.reason ?? undefined, actor: approval.answeredBy });
  }

  #wordsOf(approval: ApprovalRecord, { decision, reason }: Answer): string {
    const channel = this.#channelOf(approval.agent);
    const fits = decision === "deny" || (decision === "answer") === (approval.for === "question");
    if (!channel || !fits || (decision === "answer" && !channel.answer)) throw unanswerable(approval, decision);
    if (decision === "answer" && !reason)
      throw new HoldfastError("usage", "an answer needs a text", { hint: "answer it: holdfast approvals answer ID TEXT" });
    if (decision === "allow" && reason !== undefined) throw new HoldfastError("usage", "a reason needs a denial");
    const words =
      decision === "allow"
        ? channel.allow(approval)
        : decision === "deny"
          ? channel.deny(approval, reason ?? DENIED)
          : channel.answer?.(approval, reason ?? "");
    return `${JSON.stringify(words)}\n`;
  }

  #hookOf({ session, run, ask }: ApprovalRecord): WaitingHook | undefined {
    return ask === null ? undefined : WaitingHook.find(runDirectory(this.#home, session, run), ask);
  }

  #channelOf(agent: string): HookChannel | undefined {
    return this.#profiles.find(agent)?.approvals?.hook;
  }

  #watch({ session, run, ask }: { session: SessionId; run: number; ask: string | null }): void {
    const marker = runMarker({ session, run });
    if (ask === null || this.#watchers.has(marker)) return;
    this.#watchers.set(
      marker,
      watchAnswers(runDirectory(this.#home, session, run), () => this.look({ session, run })),
    );
  }

  #unwatch(run: RunId): void {
    if (this.#queries.openOf(run.session, run.run).some((approval) => approval.ask !== null && approval.channel !== "tool")) return;
    const marker = runMarker(run);
    this.#watchers.get(marker)?.close();
    this.#watchers.delete(marker);
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const due = this.#queries.list({ open: true }).flatMap(({ expiresAt }) => (expiresAt === null ? [] : [Date.parse(expiresAt)]));
    if (due.length === 0) return;
    const inMs = Math.min(LONGEST_TIMER_MS, Math.max(0, Math.min(...due) - Date.now()));
    this.#timer = setTimeout(() => this.#expire(), inMs).unref();
  }
}

/** One that only its screen can be told is not told apart from others by what it shows. */
function startDialogWithChoices({ dialogs }: ApprovalChannels, what: "trust" | "login", screen: Screen) {
  const shown = startDialogOn(dialogs, { what, screen });
  return shown?.dialog.choices || shown?.dialog.offers ? shown : undefined;
}

/** Of a hook that waits, or a dialog; not of a protocol or a tool. */
function isHooks({ channel }: ApprovalRecord): boolean {
  return channel === "hook" || channel === "screen";
}

function byProtocolOrTool(approval: ApprovalRecord, kind: SessionRecord["kind"]): Evidence {
  return approval.channel === "tool" ? waitingByTool(approval, kind) : waitingByProtocol(approval);
}
