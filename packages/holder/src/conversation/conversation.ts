/**
 * A conversation with one agent: one turn at a time, and everything is in the transcript before anybody learns of it. The daemon decides who may send
 * what, and in which order; this class only records each message, once.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { RequestPermissionRequest, RequestPermissionResponse, SessionUpdate } from "@agentclientprotocol/sdk";
import { REASON } from "@holdfast/contract/agent/order";
import type { TurnEnd } from "@holdfast/contract/conversation/enums";
import type { ConversationOrder, ConversationState, ToConversation } from "@holdfast/contract/conversation/holder";
import type { AskOption, EntryDraft } from "@holdfast/contract/conversation/transcript";
import type { Principal } from "@holdfast/contract/ids";
import type { Agent, Opened } from "./agent.ts";
import { failureOf } from "./failure.ts";
import type { Recalled } from "./recall.ts";
import { commandsOf, NOTHING, type Offer, offerAgain, offerOf } from "./settings.ts";
import { TurnUse } from "./token-use.ts";
import { fields } from "./told.ts";
import { optionsOf, readCall } from "./tool-call.ts";
import type { Transcript } from "./transcript.ts";
import { Updates } from "./updates.ts";

type Prompt = Extract<ToConversation, { t: "prompt" }>;
type Answer = Extract<ToConversation, { t: "answer" }>;
type Note = Extract<ToConversation, { t: "note" }>;

interface Waiting {
  call: string;
  /** The action of the call at the time of the request. */
  does: string;
  options: AskOption[];
  resolve(response: RequestPermissionResponse): void;
}

const LONGEST_WAIT_MS = 65_000;

/** Some agents report their usage with each word. With a longer interval, limits would act later. */
const SO_FAR_MS = 1000;

export class Refusal extends Error {
  readonly code: "busy" | "ended" | "not_offered" | "failed";

  constructor(code: Refusal["code"], message: string) {
    super(message);
    this.code = code;
  }
}

export class Conversation {
  readonly #order: ConversationOrder;
  readonly #transcript: Transcript;
  readonly #agent: Agent;
  readonly #updates: Updates;
  readonly #use: TurnUse;
  #soFar: { at: number; told: string; timer: NodeJS.Timeout | undefined } = { at: 0, told: "", timer: undefined };
  readonly #asks = new Map<string, Waiting>();
  readonly #opened: Promise<void>;
  /** Messages on their way into the running turn. */
  readonly #steering = new Map<string, Promise<void>>();
  #offer: Offer = { settings: NOTHING, mode: null, model: null };
  #ready = false;
  #hasToldUnopened = false;
  #ended = false;
  #turn: string | null = null;
  /** Resolves at the end of the running turn. */
  #over = Promise.withResolvers<void>();
  #cancelled = false;
  #askCount = 0;
  /** Adds the earlier conversation to a prompt, for an agent that does not remember it. */
  readonly #recall: (words: string) => Promise<Recalled>;
  #mustRecall = false;
  readonly #noted = new Set<string>();
  /** Holdfast's own texts for the next prompt. */
  readonly #aside: string[] = [];

  constructor(options: { order: ConversationOrder; transcript: Transcript; agent: Agent; recall(words: string): Promise<Recalled> }) {
    this.#order = options.order;
    this.#use = new TurnUse({ isNew: options.order.conversation === null });
    this.#transcript = options.transcript;
    this.#agent = options.agent;
    this.#recall = options.recall;
    this.#updates = new Updates((id) => options.agent.terminals.printed(id));
    this.#opened = this.#open();
    // A prompt reports this error; without a prompt it is in the transcript.
    this.#opened.catch(() => {});
  }

  get state(): ConversationState {
    return {
      ready: this.#ready,
      conversation: this.#ready ? this.#agent.conversation : null,
      turn: this.#turn,
      asks: [...this.#asks.keys()],
      settings: this.#offer.settings,
    };
  }

  /** Resolves when the message is in the transcript. */
  async prompt(prompt: Prompt): Promise<void> {
    if (this.#transcript.said.has(prompt.message)) return;
    if (this.#ended) throw new Refusal("ended", "the agent has ended");
    if (this.#turn !== null && !prompt.steer) throw new Refusal("busy", "a turn is running");
    if (this.#turn !== null) return this.#steer(prompt);
    this.#keep(prompt, prompt.message);
    this.#turn = prompt.message;
    this.#cancelled = false;
    this.#over = Promise.withResolvers();
    void this.#run(prompt);
  }

  /** A repeated request, as from a daemon that replaces a killed one, is handled once. */
  #steer(prompt: Prompt): Promise<void> {
    const { message } = prompt;
    const steering = this.#steering.get(message) ?? this.#steerOnce(prompt).finally(() => this.#steering.delete(message));
    this.#steering.set(message, steering);
    return steering;
  }

  async #steerOnce(prompt: Prompt): Promise<void> {
    // The agent's capabilities are known once it has opened the conversation.
    await this.#opened.catch(() => {});
    const turn = this.#turn;
    if (turn !== null && this.#agent.steers) {
      // The agent has the message then, even if the disk is full.
      const took = await this.#agent.steer(prompt.words, () => this.#transcript.appendSaid(userOf(prompt), turn));
      if (took) return;
    } else if (turn !== null && prompt.patient)
      throw new Refusal("busy", "a turn is running, and the agent accepts no input during a turn");
    else await this.cancel();
    await this.#over.promise;
    // A turn ends with its agent, once the system has reported that end.
    if (this.#ended || this.#agent.isSilent) throw new Refusal("ended", "the agent has ended");
    // Another message may have started the next turn.
    if (this.#turn === null) return this.prompt(prompt);
    return this.#steerOnce(prompt);
  }

  #keep(prompt: Prompt, turn: string): void {
    if (this.#transcript.appendOrRefuse(userOf(prompt), turn)) return;
    throw new Refusal("failed", "the disk is full: the message was not saved and not sent");
  }

  async cancel(): Promise<boolean> {
    if (this.#turn === null) return false;
    this.#cancelled = true;
    for (const ask of [...this.#asks.keys()]) this.#settle(ask, null, { by: null, why: null });
    if (this.#ready) this.#agent.cancel();
    // The agent has not received the prompt yet, and may never.
    else this.#endTurn("cancelled");
    return true;
  }

  answer({ ask, allow, always, by, reason = null }: Answer): void {
    const waiting = this.#asks.get(ask);
    if (!waiting) return;
    this.#settle(ask, optionFor(waiting.options, { allow, always }) ?? null, { by, why: allow ? null : reason });
  }

  async set({ mode, model }: { mode?: string | undefined; model?: string | undefined }): Promise<void> {
    await this.#opened.catch(() => {});
    if (this.#ended) throw new Refusal("ended", "the agent has ended");
    if (mode !== undefined) await this.#choose("mode", mode);
    if (model !== undefined) await this.#choose("model", model);
  }

  /** Clears the agent's memory, not the transcript. */
  async clear(): Promise<void> {
    await this.#opened.catch(() => {});
    if (this.#ended) throw new Refusal("ended", "the agent has ended");
    if (this.#turn !== null) throw new Refusal("busy", "a turn is running");
    const { mode, model, commands } = this.#offer.settings;
    const opened = await this.#agent.clear(this.#order);
    this.#offer = offerOf(opened, commands);
    this.#mustRecall = false;
    this.#note("cleared", "the agent's memory is cleared", { conversation: opened.conversation });
    // The agent loses the conversation, not its settings: a mode may be all that keeps it from acting unasked.
    await this.#chooseAgain({ model, mode });
  }

  hear(update: SessionUpdate): void {
    if (this.#use.hear(update)) {
      // Some agents report usage after the turn.
      if (this.#turn === null) this.#tellUse(undefined, this.#lastTurn);
      else this.#tellSoFar();
    }
    if (update.sessionUpdate === "available_commands_update") {
      const commands = commandsOf(update.availableCommands);
      this.#offer = { ...this.#offer, settings: { ...this.#offer.settings, commands } };
    } else if (update.sessionUpdate === "current_mode_update") {
      if (typeof update.currentModeId === "string") this.#now({ mode: update.currentModeId });
    } else if (update.sessionUpdate === "config_option_update") {
      this.#offer = offerAgain(this.#offer, { configOptions: update.configOptions });
    }
    // Updates before the first turn of a run are a replay; updates after the end of a turn still belong to it.
    const turn = this.#turn ?? this.#lastTurn;
    if (turn === null && update.sessionUpdate !== "notice") return;
    if (this.#turn === null && this.#updates.isOver(update)) return;
    for (const draft of this.#updates.entriesOf(update)) this.#transcript.append(draft, turn);
    this.#askAgain();
  }

  /** A call that changes while it waits is asked again, because an answer to the earlier request does not apply to it. */
  #askAgain(): void {
    for (const [ask, waiting] of [...this.#asks]) {
      const now = this.#doesOf(waiting.call);
      if (now === waiting.does) continue;
      this.#asks.delete(ask);
      this.#write({ type: "approval_answered", ask, option: null, allowed: false, by: null });
      this.#writeAsk(waiting);
    }
  }

  #doesOf(call: string): string {
    const { title: _, ...does } = this.#updates.callOf(call) ?? {};
    return JSON.stringify(does);
  }

  printed(terminal: string, text: string): void {
    if (this.#turn !== null) for (const draft of this.#updates.printed(terminal, text)) this.#write(draft);
  }

  ask({ toolCall, options }: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    if (this.#turn === null || this.#cancelled) return Promise.resolve({ outcome: { outcome: "cancelled" } });
    for (const draft of this.#updates.toolCall(toolCall)) this.#write(draft);
    const { id } = readCall(toolCall);
    return new Promise((resolve) => this.#writeAsk({ call: id, options: optionsOf(options), resolve }));
  }

  #writeAsk({ call, options, resolve }: Pick<Waiting, "call" | "options" | "resolve">): void {
    const ask = `a${++this.#askCount}`;
    const { name, title = "a tool", kind = "other", input = null, changes = [] } = this.#updates.callOf(call) ?? {};
    this.#asks.set(ask, { call, options, resolve, does: this.#doesOf(call) });
    this.#write({
      type: "approval_asked",
      ask,
      call,
      ...(name === undefined ? {} : { name }),
      title,
      kind,
      input,
      ...(changes.length === 0 ? {} : { changes }),
      options,
    });
  }

  /**
   * Adds a note for people to the conversation, once per key. `words` are for the agent, which gets them during its turn if it can be steered, and
   * otherwise with the next prompt. They interrupt nothing.
   */
  note({ key, about, text, words }: Note): void {
    if (this.#noted.has(key)) return;
    this.#noted.add(key);
    this.#note(about, text);
    if (words !== null) this.#tellAside(words);
  }

  /** Text for the agent that interrupts nothing: during its turn if it can be steered, otherwise with the next prompt. */
  #tellAside(words: string): void {
    if (this.#ended) return;
    const takesNow = this.#turn !== null && this.#ready && this.#agent.steers;
    const taken = takesNow ? this.#agent.steer(words, () => {}) : Promise.resolve(false);
    void taken.then((isTaken) => isTaken || this.#aside.push(words));
  }

  /** The agent has ended: everything it was doing is over. */
  end(how: string): void {
    this.#ended = true;
    for (const ask of [...this.#asks.keys()]) this.#settle(ask, null, { by: null, why: null });
    const printed = this.#order.conversation === null ? "read its output: holdfast logs NAME" : null;
    if (!this.#ready) this.#tellUnopened({ code: "agent_failed", message: how, hint: printed, retry: true });
    if (this.#turn === null) return;
    if (this.#ready) {
      const hint = "continue the conversation: holdfast resume NAME";
      this.#write({ type: "error", code: "agent_ended", message: how, hint, retry: true });
    }
    this.#endTurn("interrupted");
  }

  #settle(ask: string, option: AskOption | null, { by, why }: { by: Principal | null; why: string | null }): void {
    const waiting = this.#asks.get(ask);
    this.#asks.delete(ask);
    const allowed = option?.kind.startsWith("allow") ?? false;
    // The protocol has no field for a reason. The daemon sends it as a message to an agent that does not read ours.
    const untold = why === null || (option !== null && this.#agent.takesReasons) ? {} : { untold: why };
    this.#write({ type: "approval_answered", ask, option: option?.id ?? null, allowed, by, ...untold });
    const about = why === null ? {} : { _meta: { [REASON]: why } };
    waiting?.resolve({ outcome: option ? { outcome: "selected", optionId: option.id, ...about } : { outcome: "cancelled" } });
  }

  async #open(): Promise<void> {
    try {
      await this.#untilItMay();
      const opened = await this.#agent.open(this.#order);
      this.#offer = offerOf(opened, this.#offer.settings.commands);
      this.#ready = true;
      this.#tellOpened(opened);
      const { mode, model } = this.#order;
      if (model !== null) await this.#choose("model", model).catch((error: unknown) => this.#tellUnset(error));
      if (mode !== null) await this.#choose("mode", mode).catch((error: unknown) => this.#tellUnset(error));
    } catch (error) {
      // If the agent closed its output, its end says more than this error.
      if (!this.#ended && !this.#agent.isSilent) this.#tellUnopened(failureOf(error));
      if (!this.#ended) this.#agent.kill();
      throw error;
    }
  }

  #tellUnopened(failed: ReturnType<typeof failureOf>): void {
    if (this.#hasToldUnopened) return;
    this.#hasToldUnopened = true;
    const { conversation } = this.#order;
    this.#write({
      type: "error",
      ...failed,
      message: conversation === null ? failed.message : `the agent cannot continue its conversation ${conversation}: ${failed.message}`,
      hint:
        failed.hint ??
        (conversation === null ? null : "try again: holdfast resume NAME; or start a new conversation: holdfast resume --fresh NAME"),
    });
  }

  async #untilItMay(): Promise<void> {
    const wait = (this.#order.notBefore ?? 0) - Date.now();
    if (wait <= 0) return;
    this.#note("opening", `the agent cannot reopen its conversation so soon; it continues in ${Math.ceil(wait / 1000)} s`);
    // A fixed wait, independent of changes to the clock.
    await delay(Math.min(wait, LONGEST_WAIT_MS));
  }

  #tellOpened({ conversation, remembers }: Opened): void {
    this.#mustRecall = !remembers;
    const isNew = remembers && conversation !== this.#order.conversation;
    const text = isNew
      ? "the conversation begins"
      : remembers
        ? "the conversation continues"
        : "the agent cannot continue a conversation by itself: it gets the earlier turns as text";
    this.#note("opened", text, { conversation });
  }

  #tellUnset(error: unknown): void {
    this.#note("not_set", (error as Error).message);
  }

  async #run(prompt: Prompt): Promise<void> {
    try {
      await this.#opened;
      if (this.#turn !== prompt.message) return;
      if (this.#cancelled) return this.#endTurn("cancelled");
      const result = await this.#agent.prompt(await this.#wordsOf(prompt));
      this.#tellUse(result, this.#turn);
      this.#endTurn(ENDS.get(fields(result).stopReason) ?? "completed");
    } catch (error) {
      // An agent that closed its output has ended, or must: its end determines the end of the turn.
      if (this.#agent.isSilent) this.#agent.kill();
      if (this.#agent.isSilent || this.#ended || this.#turn !== prompt.message) return;
      // A failed turn may still have used tokens.
      this.#tellUse({ _meta: (error as { data?: unknown }).data }, this.#turn);
      if (!this.#cancelled && this.#ready) this.#write({ type: "error", ...failureOf(error) });
      this.#endTurn(this.#cancelled ? "cancelled" : "failed");
    }
  }

  async #wordsOf({ words: said }: Prompt): Promise<string> {
    const words = [said, ...this.#aside.splice(0)].join("\n\n");
    if (!this.#mustRecall) return words;
    this.#mustRecall = false;
    const recalled = await this.#recall(words);
    if (recalled.leftOut !== null) this.#note("left_out", recalled.leftOut);
    return recalled.words;
  }

  #lastTurn: string | null = null;

  #endTurn(reason: TurnEnd): void {
    clearTimeout(this.#soFar.timer);
    this.#soFar = { at: 0, told: "", timer: undefined };
    for (const draft of this.#updates.leftOpen()) this.#write(draft);
    this.#write({ type: "turn_ended", reason });
    this.#lastTurn = this.#turn;
    this.#turn = null;
    this.#over.resolve();
  }

  #tellSoFar(): void {
    if (this.#soFar.timer) return;
    const wait = this.#soFar.at + SO_FAR_MS - performance.now();
    if (this.#soFar.at > 0 && wait > 0) {
      this.#soFar.timer = setTimeout(() => {
        this.#soFar.timer = undefined;
        this.#tellSoFar();
      }, wait).unref();
      return;
    }
    const use = this.#use.soFar(this.#offer.settings.model);
    const told = JSON.stringify(use);
    if (!use || this.#turn === null || told === this.#soFar.told) return;
    this.#soFar = { at: performance.now(), told, timer: undefined };
    this.#write({ type: "usage_so_far", ...use });
  }

  #tellUse(result: unknown, turn: string | null): void {
    const use = this.#use.take(result, this.#offer.settings.model);
    if (use) this.#transcript.append({ type: "usage", ...use }, turn);
  }

  async #chooseAgain(before: { model: string | null; mode: string | null }): Promise<void> {
    for (const what of ["model", "mode"] as const) {
      const value = before[what];
      if (value === null || value === this.#offer.settings[what]) continue;
      await this.#choose(what, value).catch((error: unknown) => this.#tellUnset(error));
    }
  }

  async #choose(what: "mode" | "model", value: string): Promise<void> {
    const setter = this.#offer[what];
    const { settings } = this.#offer;
    const choices = what === "mode" ? settings.modes : settings.models;
    if (!setter) throw new Refusal("not_offered", `the agent offers no ${what} to choose`);
    if (choices.length > 0 && !choices.some(({ id }) => id === value)) {
      throw new Refusal(
        "not_offered",
        `the agent has no ${what} ${JSON.stringify(value)}; it has ${choices.map(({ id }) => id).join(", ")}`,
      );
    }
    const offered = await this.#agent.set(setter, value);
    if (offered.configOptions) this.#offer = offerAgain(this.#offer, offered);
    this.#now({ [what]: value });
  }

  #now(chosen: { mode?: string; model?: string }): void {
    const { settings } = this.#offer;
    this.#offer = { ...this.#offer, settings: { ...settings, ...chosen } };
    for (const [what, value] of Object.entries(chosen)) this.#note(what, `the ${what} is now ${value}`);
  }

  #note(about: string, text: string, more: { conversation?: string } = {}): void {
    this.#write({ type: "note", about, text, ...more });
  }

  #write(draft: EntryDraft): void {
    this.#transcript.append(draft, this.#turn);
  }
}

const ENDS = new Map<unknown, TurnEnd>([
  ["end_turn", "completed"],
  ["max_tokens", "max_tokens"],
  ["max_turn_requests", "max_requests"],
  ["refusal", "refused"],
  ["cancelled", "cancelled"],
]);

function userOf({ message, from, text, addition, steer }: Prompt): Extract<EntryDraft, { type: "user" }> {
  return { type: "user", message, from, text, addition, steer };
}

/** Without `always`, never an option that allows more than the request. */
function optionFor(options: readonly AskOption[], { allow, always }: { allow: boolean; always: boolean }): AskOption | undefined {
  const kinds = allow ? (always ? ["allow_always", "allow_once"] : ["allow_once"]) : ["reject_once", "reject_always"];
  return kinds.map((kind) => options.find((option) => option.kind === kind)).find((option) => option !== undefined);
}
