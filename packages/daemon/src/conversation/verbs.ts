/** What people and programs do with a conversation, beside saying something to it. */
import { type Conversation, HoldfastError, isRunning, type Principal, type Session } from "@holdfast/contract";
import type { Profiles } from "../agent/profiles/index.ts";
import type { RunId } from "../host/host.ts";
import type { SessionRecord } from "../projection/session-queries.ts";
import { notRunning } from "../session/running.ts";
import type { ConversationKeeper, ConversationRequest } from "./keeper.ts";
import type { Transcripts } from "./transcripts.ts";

interface Choice {
  mode?: string | undefined;
  model?: string | undefined;
}

export class ConversationVerbs {
  readonly #transcripts: Transcripts;
  readonly #keeper: ConversationKeeper;
  readonly #turnOf: (run: RunId) => string | null;
  readonly #viewOf: (ref: string) => Session;
  readonly #resolve: (ref: string) => SessionRecord;
  readonly #profiles: Profiles;
  readonly #keepChoice: (session: SessionRecord["id"], chosen: Choice) => void;
  readonly #press: (ref: string, options: { keys: readonly string[]; actor: Principal }) => Promise<unknown>;

  constructor(options: {
    transcripts: Transcripts;
    keeper: ConversationKeeper;
    turnOf(run: RunId): string | null;
    viewOf(ref: string): Session;
    resolve(ref: string): SessionRecord;
    profiles: Profiles;
    /** For the next runs. */
    keepChoice(session: SessionRecord["id"], chosen: Choice): void;
    press(ref: string, options: { keys: readonly string[]; actor: Principal }): Promise<unknown>;
  }) {
    this.#transcripts = options.transcripts;
    this.#keeper = options.keeper;
    this.#turnOf = options.turnOf;
    this.#viewOf = options.viewOf;
    this.#resolve = options.resolve;
    this.#profiles = options.profiles;
    this.#keepChoice = options.keepChoice;
    this.#press = options.press;
  }

  async get(ref: string): Promise<Conversation> {
    const record = this.#transcripts.resolve(ref);
    const isLive = isRunning(record.status) && record.status !== "starting";
    const state = isLive ? await this.#keeper.converse(runOf(record), { t: "state" }).catch(() => undefined) : undefined;
    return {
      session: this.#viewOf(record.id),
      turn: state?.turn ?? null,
      settings: state?.ready ? state.settings : null,
      cursor: this.#transcripts.end(record),
    };
  }

  async set(ref: string, { mode, model }: Choice): Promise<Conversation> {
    if (mode === undefined && model === undefined) throw new HoldfastError("usage", "say which mode or model");
    await this.#tell(ref, { t: "set", ...(mode === undefined ? {} : { mode }), ...(model === undefined ? {} : { model }) });
    this.#keepChoice(this.#resolve(ref).id, { mode, model });
    return this.get(ref);
  }

  async clear(ref: string): Promise<Conversation> {
    await this.#tell(ref, { t: "clear" });
    return this.get(ref);
  }

  /** Of a terminal's agent by the keys that its profile names. */
  async cancel(ref: string, actor: Principal): Promise<{ session: Session; cancelled: boolean }> {
    const record = this.#resolve(ref);
    if (record.kind === "conversation") {
      const cancelled = this.#turnOf(runOf(record)) !== null;
      await this.#tell(ref, { t: "cancel" });
      return { session: this.#viewOf(record.id), cancelled };
    }
    const keys = this.#profiles.find(record.agent)?.interrupt;
    if (!keys) {
      throw new HoldfastError("not_offered", `how ${record.agent} is interrupted is not known`, {
        hint: `do it by keys: holdfast keys ${record.name} C-c; or stop it: holdfast stop ${record.name}`,
      });
    }
    const cancelled = record.standing?.turn === "working";
    // Keys that interrupt a turn may end an agent that is idle.
    if (cancelled) await this.#press(record.id, { keys, actor });
    return { session: this.#viewOf(record.id), cancelled };
  }

  async #tell(ref: string, request: ConversationRequest): Promise<void> {
    const record = this.#transcripts.resolve(ref);
    if (record.status === "created") throw notRunning(record);
    if (!isRunning(record.status)) {
      throw new HoldfastError("session_ended", `${record.name} has ended (${record.status})`, {
        hint: `go on with it: holdfast resume ${record.name}`,
      });
    }
    await this.#keeper.converse(runOf(record), request);
  }
}

function runOf({ id, run }: SessionRecord): RunId {
  return { session: id, run };
}
