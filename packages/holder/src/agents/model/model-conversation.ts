/**
 * The built-in agent: asks a model and runs its tools, until the model has nothing more to do. The loop is here rather than in the library,
 * because each step also needs permission for tools, messages of people, a fit into the context, and retries.
 *
 * Whatever happens, each turn leaves a usable memory: it has the output so far, every call has a result, and a prompt without any effect is not in it.
 */

import { RequestError, type SessionConfigOption, type StopReason } from "@agentclientprotocol/sdk";
import type { ModelOrder } from "@holdfast/contract/agent/order";
import { MODEL_MODES } from "@holdfast/contract/agent/order";
import type { TokenUse } from "@holdfast/contract/conversation/transcript";
import type { ModelMessage } from "ai";
import { KeptContext } from "../context/kept.ts";
import { bytesOf } from "../context/tokens.ts";
import type { Turn } from "../context/turn.ts";
import { type Conversation, type Place, type Settings, soFar, type TurnResult } from "../conversation.ts";
import { AgentFailure } from "../failure.ts";
import { leftOut, type Notice, nearlyFull } from "../notices.ts";
import { NOTHING } from "../open-session.ts";
import type { Endpoint } from "./endpoint.ts";
import { instructionsFor } from "./instructions.ts";
import { Leave } from "./leave.ts";
import { bytesOfMessages, messagesOf, shortened } from "./messages.ts";
import type { Servers } from "./servers/servers.ts";
import { ask, type StepAnswer } from "./step.ts";
import { useTools } from "./tool-use.ts";
import { type Offered, Toolbox } from "./tools/toolbox.ts";

const MODES = {
  ask: "asks before it changes files or runs commands",
  "auto-edit": "changes files in the session's directory without asking; asks before it runs commands",
  auto: "asks for no permission",
} as const;

interface Given {
  order: ModelOrder;
  endpoint: Endpoint;
  /** The initial model, and those that the endpoint lists. */
  model: string;
  models: readonly string[];
  place: Place;
  /** The session's directory, without symbolic links. */
  root: string;
  /** Owned by the conversation from here on, and closed with it. */
  servers: Servers;
}

export class ModelConversation implements Conversation {
  readonly #order: ModelOrder;
  readonly #endpoint: Endpoint;
  readonly #place: Place;
  readonly #root: string;
  readonly #context: KeptContext;
  readonly #leave: Leave;
  readonly #servers: Servers;
  readonly #toolbox: Toolbox;
  #model: string;
  #models: string[];
  /** Steering messages for the running turn; undefined while no turn runs. */
  #steering: string[] | undefined;

  constructor({ order, endpoint, model, models, place, root, servers }: Given) {
    this.#order = order;
    this.#endpoint = endpoint;
    this.#place = place;
    this.#root = root;
    this.#context = new KeptContext(order.context, place.told.turns);
    this.#leave = new Leave(order.mode, place.ask);
    this.#servers = servers;
    this.#toolbox = new Toolbox(order, servers);
    this.#model = model;
    this.#models = [...models];
  }

  settings(): Settings {
    const modes = { currentModeId: this.#leave.mode, availableModes: MODEL_MODES.map((id) => ({ id, name: id, description: MODES[id] })) };
    return { modes, configOptions: this.#options() };
  }

  clear(): void {
    this.#context.clear();
  }

  setMode(mode: string): void {
    const known = MODEL_MODES.find((each) => each === mode);
    if (known === undefined) throw RequestError.invalidParams({ modeId: mode, modes: MODEL_MODES });
    this.#leave.mode = known;
  }

  /** Also accepts an unlisted model: not every endpoint lists all its models, and it reports an unknown one when asked. */
  setOption(option: string, value: string): void {
    if (option === "mode") this.setMode(value);
    else if (option === "model" && value.trim() !== "") this.#model = value;
    else throw RequestError.invalidParams({ configId: option });
  }

  /** Offers the endpoint's models if its list arrived late. */
  async offer(models: readonly string[]): Promise<void> {
    this.#models = [...models];
    await this.#place.tell({ sessionUpdate: "config_option_update", configOptions: this.#options() });
  }

  steer(text: string): boolean {
    this.#steering?.push(text);
    return this.#steering !== undefined;
  }

  async close(): Promise<void> {
    await this.#servers[Symbol.asyncDispose]();
  }

  async turn(prompt: string, signal: AbortSignal): Promise<TurnResult> {
    const turn: Turn = { prompt, said: [], end: null };
    const usage: TokenUse = { ...NOTHING, model: this.#model };
    this.#steering = [];
    try {
      const stopReason = await this.#steps(turn, usage, signal);
      turn.end = stopReason === "cancelled" ? "cancelled" : "completed";
      return { stopReason, usage };
    } catch (error) {
      turn.end = "failed";
      if (error instanceof AgentFailure && (usage.input !== 0 || usage.output !== 0)) error.usage = usage;
      throw error;
    } finally {
      // Steering messages that the model did not read are remembered all the same.
      for (const text of this.#steering) turn.said.push({ kind: "steer", text });
      this.#steering = undefined;
      this.#context.add(turn);
    }
  }

  async #steps(turn: Turn, usage: TokenUse, signal: AbortSignal): Promise<StopReason> {
    const now: ModelMessage[] = [{ role: "user", content: turn.prompt }];
    await this.#servers.ready(signal);
    if (signal.aborted) return "cancelled";
    for (let step = 1; ; step++) {
      for (const text of this.#steering?.splice(0) ?? []) {
        turn.said.push({ kind: "steer", text });
        now.push({ role: "user", content: text });
      }
      const offered = await this.#offer();
      const answer = await this.#ask(now, offered, { turn, usage, signal, isFirst: step === 1 });
      if (answer === "cancelled") return "cancelled";
      now.push(...answer.messages);
      if (answer.calls.length > 0) {
        const used = await useTools(answer.calls, {
          tools: offered.tools,
          root: this.#root,
          place: this.#place,
          leave: this.#leave,
          turn,
          signal,
        });
        if (used === "cancelled") return "cancelled";
        now.push({ role: "tool", content: used });
      } else if (this.#steering?.length === 0) return answer.stopReason;
      if (step === this.#order.maxSteps) {
        await this.#place.notice({
          about: "answer",
          severity: "warning",
          title: `the turn stopped after ${step} steps; send "continue" to continue it`,
        });
        return "max_turn_requests";
      }
    }
  }

  /** The tools for this step, because servers come and go. */
  async #offer(): Promise<Offered> {
    const { gauge, rule } = this.#context;
    const { offered, notices } = this.#toolbox.offer(rule.tokens === null ? Number.POSITIVE_INFINITY : gauge.bytes(rule.tokens));
    for (const notice of [...this.#servers.takeNotices(), ...notices]) await this.#place.notice(notice);
    return offered;
  }

  async #ask(
    now: readonly ModelMessage[],
    offered: Offered,
    { turn, usage, signal, isFirst }: { turn: Turn; usage: TokenUse; signal: AbortSignal; isFirst: boolean },
  ): Promise<StepAnswer | "cancelled"> {
    const own = offered.tools.filter(({ schema }) => schema === undefined);
    const instructions = instructionsFor({
      cwd: this.#root,
      system: this.#order.system,
      tools: own.map(({ name }) => name),
      hasOthers: own.length < offered.tools.length,
      servers: offered.instructions,
    });
    const besides = bytesOf(instructions) + offered.bytes;
    const { messages, used } = await this.#fit(now, besides, isFirst);
    const bytes = besides + bytesOfMessages(messages);
    const answer = await ask({
      endpoint: this.#endpoint,
      model: this.#model,
      instructions,
      messages,
      tools: offered.tools,
      place: this.#place,
      turn,
      signal,
    });
    if (answer === "cancelled") return answer;
    const { input, output, cacheRead, cacheWrite } = answer.usage;
    for (const key of ["input", "output", "cacheRead", "cacheWrite"] as const)
      usage[key] = usage[key] === null || answer.usage[key] === null ? null : usage[key] + answer.usage[key];
    const asked = input === null ? null : input + (cacheRead ?? 0) + (cacheWrite ?? 0);
    if (asked !== null) this.#context.gauge.learn(bytes, asked);
    await this.#tellFill(usage, asked === null ? used : asked + (output ?? 0));
    await this.#place.tell(soFar(usage));
    return answer;
  }

  /** The messages to send: as much of the conversation as fits besides this turn. */
  async #fit(now: readonly ModelMessage[], besides: number, isFirst: boolean): Promise<{ messages: ModelMessage[]; used: number }> {
    const { gauge, rule, turns } = this.#context;
    const { tokens: size } = rule;
    const weigh = (messages: readonly ModelMessage[]) => gauge.tokens(besides + bytesOfMessages(messages));
    let current = [...now];
    const tooMany = size === null ? 0 : weigh(now) - size;
    if (tooMany > 0) {
      // Six bytes per token is more than most texts have: it is better to omit too much than too little.
      const short = shortened(now, tooMany * 6);
      current = short.messages;
      if (size !== null && weigh(current) > size)
        throw new AgentFailure("context_full", `this turn alone has about ${weigh(current)} tokens; the limit is ${size}`, {
          hint: "ask for less at once, or raise context.tokens of the agent in config.toml",
          retry: false,
        });
      if (short.leftOut > 0) await this.#place.notice(shortenedNotice(short.leftOut));
    }
    const kept = this.#context.keep(weigh(current));
    const left = isFirst ? leftOut(kept, turns.length) : undefined;
    if (left) await this.#place.notice(left);
    return { messages: messagesOf(kept, current), used: kept.tokens };
  }

  async #tellFill(usage: TokenUse, used: number): Promise<void> {
    const { tokens: size } = this.#context.rule;
    usage.context = { used, size };
    if (size === null) return;
    await this.#place.tell({ sessionUpdate: "usage_update", used, size });
    if (this.#context.becomesNearlyFull(used)) await this.#place.notice(nearlyFull(used, size));
  }

  #options(): SessionConfigOption[] {
    const models = [...new Set([this.#model, ...this.#models])];
    const modes = MODEL_MODES.map((id) => ({ value: id, name: id, description: MODES[id] }));
    const select = { type: "select" as const };
    return [
      {
        ...select,
        id: "model",
        name: "Model",
        category: "model",
        currentValue: this.#model,
        options: models.map((id) => ({ value: id, name: id })),
      },
      { ...select, id: "mode", name: "Mode", category: "mode", currentValue: this.#leave.mode, options: modes },
    ];
  }
}

function shortenedNotice(count: number): Notice {
  return {
    about: "left_out",
    severity: "info",
    title: `earlier output of ${count === 1 ? "one tool" : `${count} tools`} in this turn is omitted from the agent's context to save space`,
    description: "The transcript has all of it.",
  };
}
