/** Operations on a conversation other than messages. */
import { type Conversation, HoldfastError, isRunning, type Principal, type Session } from "@holdfast/contract";
import type { Profiles } from "../agent/profiles/index.ts";
import type { RunId } from "../host/host.ts";
import type { Journal } from "../journal/journal.ts";
import type { SessionRecord } from "../projection/session-queries.ts";
import { notRunning } from "../session/run/running.ts";
import { type Cancelled, cancelWith, ignored } from "./cancel.ts";
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
  readonly #catchUp: (run: RunId) => void;
  readonly #viewOf: (ref: string) => Session;
  readonly #resolve: (ref: string) => SessionRecord;
  readonly #cancel: ReturnType<typeof cancelWith>;
  readonly #keepChoice: (session: SessionRecord["id"], chosen: Choice) => void;

  constructor(options: {
    transcripts: Transcripts;
    keeper: ConversationKeeper;
    turnOf(run: RunId): string | null;
    /** Turns new entries of its transcript into events. */
    catchUp(run: RunId): void;
    viewOf(ref: string): Session;
    resolve(ref: string): SessionRecord;
    profiles: Profiles;
    journal: Journal;
    /** Schedules a look at its screen. */
    lookAgain(run: RunId, inMs: number): void;
    get(session: SessionRecord["id"]): SessionRecord | undefined;
    /** For the next runs. */
    keepChoice(session: SessionRecord["id"], chosen: Choice): void;
    press(ref: string, options: { keys: readonly string[]; actor: Principal }): Promise<unknown>;
  }) {
    this.#transcripts = options.transcripts;
    this.#keeper = options.keeper;
    this.#turnOf = options.turnOf;
    this.#catchUp = options.catchUp;
    this.#viewOf = options.viewOf;
    this.#resolve = options.resolve;
    this.#cancel = cancelWith({
      ...options,
      profileOf: (agent) => options.profiles.find(agent),
      converse: (run) => options.keeper.converse(run, { t: "cancel" }),
    });
    this.#keepChoice = options.keepChoice;
  }

  async get(ref: string): Promise<Conversation> {
    const record = this.#transcripts.resolve(ref);
    const isLive = isRunning(record.status) && record.status !== "starting";
    const state = isLive ? await this.#keeper.converse(runOf(record), { t: "state" }).catch(() => undefined) : undefined;
    // A client that has read the end of a turn in the transcript finds its usage here.
    this.#catchUp(runOf(record));
    return {
      session: this.#viewOf(record.id),
      turn: state?.turn ?? null,
      settings: state?.ready ? state.settings : null,
      cursor: this.#transcripts.end(record),
    };
  }

  async set(ref: string, { mode, model }: Choice): Promise<Conversation> {
    if (mode === undefined && model === undefined) throw new HoldfastError("usage", "name a mode or a model");
    await this.#tell(ref, { t: "set", ...(mode === undefined ? {} : { mode }), ...(model === undefined ? {} : { model }) });
    this.#keepChoice(this.#resolve(ref).id, { mode, model });
    return this.get(ref);
  }

  async clear(ref: string): Promise<Conversation> {
    await this.#tell(ref, { t: "clear" });
    return this.get(ref);
  }

  /** Without `waitMs` it is not checked whether the turn ended. */
  async cancel(
    ref: string,
    actor: Principal,
    { waitMs = 0, signal }: { waitMs?: number; signal?: AbortSignal } = {},
  ): Promise<{ session: Session; cancelled: boolean } & Cancelled> {
    const record = this.#resolve(ref);
    const done = await this.#cancel(record, { actor, waitMs, signal });
    if (done.outcome === "ignored") throw ignored(record, done);
    return { session: this.#viewOf(record.id), cancelled: done.outcome !== "none", ...done };
  }

  async #tell(ref: string, request: ConversationRequest): Promise<void> {
    const record = this.#transcripts.resolve(ref);
    if (record.status === "created") throw notRunning(record);
    if (!isRunning(record.status)) {
      throw new HoldfastError("session_ended", `${record.name} has ended (${record.status})`, {
        hint: `resume it: holdfast resume ${record.name}`,
      });
    }
    await this.#keeper.converse(runOf(record), request);
  }
}

function runOf({ id, run }: SessionRecord): RunId {
  return { session: id, run };
}
