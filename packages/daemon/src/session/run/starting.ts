/** Starts a run: its files, the event, then its keeper. A run that cannot be started is recorded as ended. */
import { randomUUID } from "node:crypto";
import {
  type EventData,
  HoldfastError,
  type HostName,
  type Principal,
  type PromptFate,
  type SessionId,
  unwritable,
} from "@holdfast/contract";
import { describe, type Home, log, runDirectory } from "@holdfast/platform";
import { DAEMON } from "../../access/principal.ts";
import { type Conversation, conversationFor, conversationId, newIdFor, promptFor } from "../../agent/launch.ts";
import type { Profile } from "../../agent/profile.ts";
import type { Profiles } from "../../agent/profiles/index.ts";
import { splitPrompt } from "../../agent/prompt-arguments.ts";
import type { Host, RunId, StartRequest } from "../../host/host.ts";
import type { Draft, Journal } from "../../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";
import { Times } from "../../record/times.ts";
import { conversationOrder, firstWords } from "./in-conversation.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { Limits } from "./limits.ts";
import { forkedOf } from "./prepare.ts";
import { amendSpec, isPromptPending, readSessionFiles, removeLaunch, ruleIn, type Spec, writeLaunch } from "./run-files.ts";

const DEFAULT_SIZE = { columns: 120, rows: 40 };

/** `known`: the conversation to continue. `repeatPrompt`: hand over the first prompt again, on request. */
interface Next {
  why: EventData<"session.run_created">["why"];
  known: string | null;
  fresh?: boolean;
  repeatPrompt?: boolean;
}

interface Started {
  host: Host;
  directory: string;
  title: string;
  columns?: number;
  rows?: number;
}

export class Starting {
  readonly #home: Home;
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #lifecycle: Lifecycle;
  readonly #limits: Limits;
  readonly #profiles: Profiles;
  readonly #hostOf: (name: HostName) => Host;
  readonly #usualHost: () => HostName;
  readonly #prepare: (record: SessionRecord) => void;

  constructor(options: {
    home: Home;
    journal: Journal;
    queries: SessionQueries;
    lifecycle: Lifecycle;
    limits: Limits;
    profiles: Profiles;
    hostOf(name: HostName): Host;
    usualHost(): HostName;
    /** Called before the files of a session's next run are written. */
    prepare?(record: SessionRecord): void;
  }) {
    this.#prepare = options.prepare ?? (() => {});
    this.#home = options.home;
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#lifecycle = options.lifecycle;
    this.#limits = options.limits;
    this.#profiles = options.profiles;
    this.#hostOf = options.hostOf;
    this.#usualHost = options.usualHost;
  }

  /** Starts tracking an adopted run. */
  adopted(session: SessionId, size: { columns: number; rows: number } | null): Promise<void> {
    const record = this.#queries.resolve(session);
    const directory = runDirectory(this.#home, session, 1);
    return this.start({ session, run: 1 }, { host: this.#hostOf("foreign"), directory, title: titleOf(record), ...size });
  }

  async next(
    record: SessionRecord,
    how: Next & { actor: Principal; isCreated: boolean },
  ): Promise<{ conversation: Conversation; prompt: PromptFate | null }> {
    const session = record.id;
    this.#prepare(record);
    const isFirst = how.isCreated || record.status === "created";
    const run = { session, run: isFirst ? record.run : record.run + 1 };
    const { host, directory, conversation, order, prompt, said } = this.#readyToStart(record, { run, ...how });
    const going = conversation && "resume" in conversation ? { conversation: conversation.resume } : {};
    const moved = host.name === record.host ? {} : { host: host.name };
    const data = { run: run.run, why: how.why, ...going, ...moved, ...(prompt === null ? {} : { prompt }) };
    const created = { type: "session.run_created", actor: how.actor, session, data } as const;
    const id = conversationId(conversation);
    const began = conversation && !("resume" in conversation) && id !== null ? [conversationBegan(run, id)] : [];
    const facts = [...(how.isCreated ? [] : [created]), ...began, ...firstWords({ id: session, prompt: said }, how.actor)];
    if (facts.length > 0) this.#journal.append(...facts);
    if (host.name !== record.host) amendSpec(this.#home, session, moved);
    if (id !== null) amendSpec(this.#home, session, { conversation: id });
    await this.start(run, { host, directory, title: titleOf(record), conversation: order });
    return { conversation, prompt };
  }

  #readyToStart(record: SessionRecord, { run, known, fresh = false, repeatPrompt = false }: Next & { run: RunId }) {
    try {
      // An adopted run was on its user's host; the next run is on ours.
      const host = this.#hostOf(record.host === "foreign" ? this.#usualHost() : record.host);
      const { spec, env } = readSessionFiles(this.#home, record.id);
      const profile = this.#profiles.find(record.agent);
      // Only until the fork has had a turn of its own.
      const forked = spec.forkedFrom && !fresh && record.turns === 0 ? forkedOf(spec.forkedFrom, spec.cwd) : undefined;
      const isChat = record.kind === "conversation";
      const words = isChat || !spec.asked || repeatPrompt ? undefined : splitPrompt(profile, spec.asked.args);
      // An earlier run already got the prompt in the user's own arguments.
      const args = words && this.#isHeard(record) ? words.args : spec.asked?.args;
      const again = spec.asked && { ...spec.asked, args: args ?? [] };
      const isOn = again && !isChat ? conversationFor(profile, again, { known, forked }, newIdFor(profile, spec.cwd, randomUUID)) : null;
      const conversation = isChat && known !== null ? { resume: known } : isOn;
      const fate = this.#fateOfPrompt(record, { spec, profile, conversation, repeatPrompt });
      const first = fate === "given" || fate === "repeated" ? (spec.asked?.prompt ?? null) : null;
      const asked = again && { ...again, prompt: isChat ? null : first };
      const started = { spec: { ...spec, ...(asked ? { asked } : {}) }, env, profile, conversation };
      const { directory, identity } = writeLaunch(this.#home, run, started);
      const order = isChat
        ? conversationOrder({
            profile,
            cwd: spec.cwd,
            chat: spec.chat,
            rule: ruleIn(spec),
            known,
            conversations: record.conversations,
            identity,
          })
        : undefined;
      return { host, conversation, order, directory, prompt: fate, said: isChat ? first : null };
    } catch (error) {
      // On a full disk the start is tried again.
      if (!unwritable(error)) this.#lifecycle.giveUpStart(record.id);
      throw error;
    }
  }

  /** A program gets the first prompt once: whether an earlier run executed it must not be guessed. Null: there is nothing to hand over. */
  #fateOfPrompt(
    record: SessionRecord,
    of: { spec: Spec; profile: Profile | undefined; conversation: Conversation; repeatPrompt: boolean },
  ): PromptFate | null {
    const { spec, profile, conversation } = of;
    const prompt = spec.asked?.prompt ?? (splitPrompt(profile, spec.asked?.args ?? []).said.join(" ") || null);
    if (of.repeatPrompt) {
      checkRepeat(record, { prompt, drops: conversation !== null && "resume" in conversation && profile?.conversation?.dropsPrompt });
      return "repeated";
    }
    // In a conversation the prompt is a message, which is sent once however often its agent is started.
    if (record.kind === "conversation" || promptFor(prompt, conversation) === null) return null;
    return this.#isHeard(record) ? "withheld" : "given";
  }

  #isHeard(record: SessionRecord): boolean {
    return record.status !== "created" && !isPromptPending(this.#home, { session: record.id, run: record.run });
  }

  async start(run: RunId, how: Pick<StartRequest, "conversation"> & Started): Promise<void> {
    const { host, directory, title, ...size } = { ...DEFAULT_SIZE, ...how };
    try {
      new Times(directory).append({ at: Date.now(), offset: 0, size });
      await this.#lifecycle.starting(run, () => host.start({ ...run, directory, title, ...size }));
      this.#limits.begin();
    } catch (error) {
      const endedAt = new Date().toISOString();
      const data = { run: run.run, exit: null, cause: "not_started" as const, endedAt, lastActivityAt: null, bytes: null };
      try {
        this.#lifecycle.recordEnd(this.#queries.resolve(run.session), data);
        removeLaunch(this.#home, run);
      } catch (unwritten) {
        // The next sweep finds that nothing runs.
        log(`session ${run.session}: ${describe(unwritten)}`);
      }
      throw error;
    }
  }
}

function checkRepeat({ name, agent }: SessionRecord, { prompt, drops }: { prompt: string | null; drops: boolean | undefined }): void {
  if (prompt === null)
    throw new HoldfastError("usage", `${name} was started without a first prompt`, {
      hint: `send it a message: holdfast send ${name} TEXT`,
    });
  if (!drops) return;
  throw new HoldfastError("not_offered", `${agent} takes no prompt when it continues a conversation`, {
    hint: `resume it, then run: holdfast send ${name} TEXT; or start a new conversation: holdfast resume ${name} --fresh --repeat-prompt`,
  });
}

function conversationBegan({ session, run }: RunId, conversation: string): Draft {
  return { type: "session.conversation_changed", actor: DAEMON, session, data: { run, conversation, begun: true } };
}

export function titleOf(session: { name: string; agent: string }): string {
  return `${session.name} · ${session.agent}`;
}
