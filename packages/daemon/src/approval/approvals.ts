/**
 * The inbox: permission requests and questions wait here until a principal or a rule of config.toml answers them, or they are resolved.
 *
 * A request is journaled in the same transaction as the status `waiting`. An answer is journaled before its hook receives it; if the daemon dies in
 * between, the next daemon delivers the answer. Keys cannot safely be pressed twice: `approval.answering` is journaled before the first key, and the
 * answer once the dialog is gone. The next daemon finds the dialog, or finds it gone. A restart loses no request: the journal holds the open
 * approvals, and a hook's FIFO shows whether the hook still waits (agent/hooks/answer-files.ts).
 *
 * Ending a hook without a decision is always safe: no profile names a channel whose agent would then continue as if it had been allowed.
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
import { describe, type Home, type KeyedMutex, log, runDirectory } from "@holdfast/platform";
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
import { readSpec } from "../session/run/run-files.ts";
import type { AgentStatus, Parked, Parking, StatusFollower } from "../session/status/agent-status.ts";
import type { Answer } from "./answer.ts";
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

/** Longest delay that a timer accepts. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** An answered dialog disappears within this time, even on a busy machine. */
const GOES_MS = 10_000;

/** Looks after the end of a hook within which its answer shows an effect: 2 s, or longer where a busy machine slows each look. */
const TAKEN_LOOKS = 18;
const LOOK_MS = 100;
/** Looks in a row that must show the dialog before the request is reopened. */
const STANDS = 3;

type Followed = Parameters<StatusFollower>[0];

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
  readonly #typing: KeyedMutex;
  readonly #worktrees: WorktreeTrust | undefined;
  /** Watchers of the runs that have a waiting hook. */
  readonly #watchers = new Map<string, FSWatcher | undefined>();
  /** Ids of approvals that are over but whose hook could not be answered yet. */
  readonly #untold = new Set<string>();
  /** Ids of approvals for which keys are being pressed: their dialog disappears because of the answer. */
  readonly #pressing = new Set<string>();
  /** Answers whose effect is not known yet. */
  readonly #unproved = new Map<string, { approval: ApprovalRecord; proved: AbortController; over: Promise<void> }>();
  /** Ids of approvals whose dialog has been on the screen. */
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
    /** Settings for agents that start without a person attached. */
    background?: Background;
    hosts: ReadonlyMap<HostName, Host>;
    typing: KeyedMutex;
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

  /** Sets the function that sends decisions to agents that speak a protocol. */
  tellWith(tell: (approval: ApprovalRecord) => void): void {
    this.#tellAgent = tell;
  }

  /** Finishes the previous daemon's work: undelivered answers, and hooks that ended meanwhile. */
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

  /** Ends hooks whose request is not in the journal, as after a lost journal. Their agents then ask on their own screens. */
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

  /** The request with which an agent that speaks a protocol asked. */
  byAsk({ id, run }: SessionRecord, ask: string): ApprovalRecord | undefined {
    return this.#queries.byAsk(id, run, ask);
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
    // A previous daemon recorded this request and died before it deleted the signal file.
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
    // Arguments too long to be shown cannot be allowed from the inbox.
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

  /** The rules, followed by the policy for agents started without a person, unless a terminal is attached. */
  #rulesFor(record: SessionRecord): readonly Rule[] {
    const profile = this.#profiles.find(record.agent);
    const { approval } = profile ? backgroundOf(profile, this.#background) : {};
    if (approval === undefined || record.attachments.length > 0 || !readSpec(this.#home, record.id)?.background) return this.#rules;
    const reason = approval === "deny" ? "no person is attached, and [agents.background] denies it" : undefined;
    return [...this.#rules, { ...ANYTHING, name: "agents.background", decision: approval, reason }];
  }

  /** Parks a request of an agent that speaks a protocol. The agent waits for the answer or the end of its turn. */
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

  /** Records a request made through Holdfast's own tool. The caller comes back for the outcome. */
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

  /** Resolves a tool's request that its caller no longer waits for. */
  withdraw(ref: string, { within, actor }: { within?: readonly SessionId[] | undefined; actor: Principal }): Approval {
    const approval = this.#queries.resolve(ref, within);
    if (approval.status !== "open") throw over(approval);
    if (approval.channel !== "tool") throw unanswerable(approval, "deny");
    this.#conclude(approval, { ...resolved(approval, "withdrawn"), actor });
    return this.get(approval.id);
  }

  /** Resolves when the approval is no longer open, or the signal is aborted. */
  async over(ref: string, { within, signal }: { within?: readonly SessionId[] | undefined; signal: AbortSignal }): Promise<Approval> {
    const { id } = this.#queries.resolve(ref, within);
    for (;;) {
      const { seq } = this.#journal.cursor;
      const approval = this.get(id, within);
      if (approval.status !== "open" || signal.aborted) return approval;
      await this.#journal.changed(seq, signal);
    }
  }

  /** Drafts for a request that was cancelled with its turn, or decided on the agent's side. */
  settled(record: SessionRecord, ask: string): Draft[] {
    const known = this.#queries.byAsk(record.id, record.run, ask);
    return known?.status === "open" ? [resolved(known, "withdrawn")] : [];
  }

  /** Opens and resolves approvals by the agent's signals, files and screen. */
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
      // Runs after the write. If the write fails, the approval is still open and #tell does nothing.
      setImmediate(() => this.#tell(this.#queries.get(approval.id)));
      this.#shown.delete(approval.id);
      return [resolved(approval, channel.promptsToo ? "elsewhere" : "withdrawn")];
    });
  }

  /** A request that only the screen shows stays in the inbox as long as the screen shows it. */
  #followScreen({ record, evidence, seen }: Followed): Draft[] {
    const channels = this.#profiles.find(record.agent)?.approvals;
    if (!channels || !seen) return [];
    const all = this.#queries.openOf(record.id, record.run);
    const wanted = fuse(evidence).attention?.value ?? null;
    // A request made through Holdfast's own tool does not show on the screen.
    const attention = all.some(({ channel, text }) => channel === "tool" && text === wanted?.text) ? null : wanted;
    const start = isStart(attention?.for) ? attention.for : undefined;
    const asks = start !== undefined || (channels.screen && (attention?.for === "approval" || attention?.for === "question"));
    // A screen that still changes may show half a dialog, or the rest of one.
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
    // Runs after the write.
    if (start === "trust") setImmediate(() => this.#answerTrusted());
    return [...drafts, { type: "approval.requested", actor: DAEMON, session: record.id, data }];
  }

  /** True if the dialog may be left over from a recent answer. A different dialog is a new request; a hook's dialog is unknown, so any matches. */
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

  /** Like answer(), but waits until the effect of the answer is known. Throws if it had none. */
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

  /** Waits for proof that the answer had an effect. Reopens the request if there is none and the dialog is still shown. */
  async #seeTaken(approval: ApprovalRecord, answeredAt: string, proved: AbortSignal): Promise<void> {
    const run = { session: approval.session, run: approval.run };
    let looks = 0;
    let stood = 0;
    for (;;) {
      await sleep(LOOK_MS, undefined, { ref: false, signal: proved }).catch(() => {});
      if (proved.aborted) return;
      // A hook that still waits has not received the answer.
      looks = this.#isWaiting(approval) ? 0 : looks + 1;
      const reading = await this.#status.reading(run);
      if (proved.aborted || !reading) return;
      const asks = stillAsks(reading, answeredAt);
      if (asks === false) return;
      if (looks < TAKEN_LOOKS) continue;
      // The dialog may belong to another open request.
      if (!asks || this.#queries.openOf(run.session, run.run).length > 0) return;
      // The hook of the next request may be about to report.
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
    if (answer.decision === "allow" && answer.reason !== undefined) throw new HoldfastError("usage", "a reason needs a denial");
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

  /** Answers a start dialog. Trust in one worktree of a repository extends to its other worktrees. */
  async #answerAtStart(approval: ApprovalRecord, given: Answer): Promise<Approval> {
    const answer = given.decision === "answer" ? this.#chosen(approval, given) : given;
    const answered = await this.#choose(approval, answer);
    const record = this.#sessions.get(approval.session);
    if (answer.decision === "allow" && record && this.#worktrees?.add(record, approval.dialog ?? "", answer.actor)) this.#answerTrusted();
    return answered;
  }

  /** Finds the dialog's choice that the answer names. The choice that allows or denies becomes that decision. */
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
   * Applies a person's trust in a repository's worktrees to each of them, those that wait now and later ones. Such an answer adds no trust: the
   * person may revoke it meanwhile.
   */
  #answerTrusted(): void {
    for (const approval of this.#queries.list({ open: true })) {
      if (approval.for !== "trust" || approval.dialog === null || this.#pressing.has(approval.id)) continue;
      const record = this.#sessions.get(approval.session);
      const trust = record && this.#worktrees?.of(record, approval.dialog);
      if (!trust) continue;
      this.#choose(approval, { decision: "allow", actor: trust.by }).catch((error: unknown) => {
        // The approval stays in the inbox for a person.
        if (this.#isOpen(approval))
          log(`approval ${approval.id}: its folder is trusted, but its dialog was not answered: ${describe(error)}`);
      });
    }
  }

  /** Presses keys in the agent's dialog, serialized with all other typing into the session. */
  #press(
    approval: ApprovalRecord,
    answer: Answer,
    act: (how: { host: Host; run: RunId; pressing(): void }) => Promise<Pressed>,
  ): Promise<Approval> {
    const { session, run } = approval;
    const host = this.#hosts.get(this.#sessions.get(session)?.host ?? "tmux");
    if (!host) throw unanswerable(approval, answer.decision);
    if (answer.reason !== undefined && answer.decision !== "answer") throw noReason(approval);
    return this.#typing.run(session, async () => {
      const now = this.#queries.get(approval.id);
      if (now?.status !== "open") throw over(now ?? approval);
      // No key is pressed unless the agent is known to wait.
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
    // A killed agent leaves its hooks behind, and nothing else would end them.
    try {
      for (const ask of waitingAsks(runDirectory(this.#home, run.session, run.run))) this.letGo(run, ask);
    } catch (error) {
      // For example on a full disk. The hooks are then listed as orphans.
      log(`session ${run.session}: hooks left by its run cannot be ended: ${describe(error)}`);
    }
  }

  /** Resolves approvals whose agent has stopped waiting; it now asks on its own screen. */
  #expire(): void {
    for (const approval of this.#queries.list({ open: true })) if (isDue(approval)) this.#resolve(approval, "timed_out");
    this.#arm();
  }

  #resolve(approval: ApprovalRecord, how: How): void {
    this.#conclude(approval, resolved(approval, how));
    this.#tell(this.#queries.get(approval.id));
  }

  /** Writes the end of an approval and the resulting status in one transaction. */
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

  /** After an answer the turn continues. Without one the turn may have ended too, and after a start dialog no turn runs yet. */
  #calm({ session, run, channel, for: asked }: ApprovalRecord, { at, what, turn }: { at: string; what: string; turn: boolean }): Evidence {
    const source = channel === "hook" || channel === "protocol" ? channel : (this.#status.waitsBy({ session, run }) ?? "screen");
    return { source, at, claim: turn && !isStart(asked) ? { turn: "working", attention: null } : { attention: null }, what };
  }

  /**
   * Delivers the outcome to whatever waits for it; safe to repeat. Without a decision the hook gets an empty answer. A failed delivery, on a full
   * disk for example, is retried at the next look.
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

/** The start dialog on the screen, if it can be answered from the inbox. The text of any other dialog is not compared. */
function startDialogWithChoices({ dialogs }: ApprovalChannels, what: "trust" | "login", screen: Screen) {
  const shown = startDialogOn(dialogs, { what, screen });
  return shown?.dialog.choices || shown?.dialog.offers ? shown : undefined;
}

/** True for requests by a hook or a dialog, not for those by a protocol or a tool. */
function isHooks({ channel }: ApprovalRecord): boolean {
  return channel === "hook" || channel === "screen";
}

function byProtocolOrTool(approval: ApprovalRecord, kind: SessionRecord["kind"]): Evidence {
  return approval.channel === "tool" ? waitingByTool(approval, kind) : waitingByProtocol(approval);
}
