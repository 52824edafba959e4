/** Starting a run: its files, the fact, then its keeper. What cannot be started has ended, and says so. */
import { randomUUID } from "node:crypto";
import { type EventData, type HostName, type Principal, type SessionId, unwritable } from "@holdfast/contract";
import { describe, type Home, log, runDirectory } from "@holdfast/platform";
import { DAEMON } from "../access/principal.ts";
import { type Conversation, conversationFor, conversationId } from "../agent/launch.ts";
import type { Profiles } from "../agent/profiles/index.ts";
import type { Host, RunId, StartRequest } from "../host/host.ts";
import type { Draft, Journal } from "../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { Times } from "../record/times.ts";
import { conversationOrder } from "./in-conversation.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { Limits } from "./limits.ts";
import { forkedOf } from "./prepare.ts";
import { amendSpec, readSessionFiles, removeLaunch, writeLaunch } from "./run-files.ts";

const DEFAULT_SIZE = { columns: 120, rows: 40 };

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

  constructor(options: {
    home: Home;
    journal: Journal;
    queries: SessionQueries;
    lifecycle: Lifecycle;
    limits: Limits;
    profiles: Profiles;
    hostOf(name: HostName): Host;
    usualHost(): HostName;
  }) {
    this.#home = options.home;
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#lifecycle = options.lifecycle;
    this.#limits = options.limits;
    this.#profiles = options.profiles;
    this.#hostOf = options.hostOf;
    this.#usualHost = options.usualHost;
  }

  /** Of one that runs elsewhere and has just been recorded. */
  adopted(session: SessionId, size: { columns: number; rows: number } | null): Promise<void> {
    const record = this.#queries.resolve(session);
    const directory = runDirectory(this.#home, session, 1);
    return this.start({ session, run: 1 }, { host: this.#hostOf("foreign"), directory, title: titleOf(record), ...size });
  }

  async next(
    record: SessionRecord,
    how: { why: EventData<"session.run_created">["why"]; actor: Principal; known: string | null; isCreated: boolean; fresh?: boolean },
  ): Promise<Conversation> {
    const session = record.id;
    const isFirst = how.isCreated || record.status === "created";
    const run = { session, run: isFirst ? record.run : record.run + 1 };
    const { host, directory, conversation, order } = this.#readyToStart(record, { run, ...how });
    const going = conversation && "resume" in conversation ? { conversation: conversation.resume } : {};
    const moved = host.name === record.host ? {} : { host: host.name };
    const data = { run: run.run, why: how.why, ...going, ...moved };
    const created = { type: "session.run_created", actor: how.actor, session, data } as const;
    const id = conversationId(conversation);
    const began = conversation && !("resume" in conversation) && id !== null ? [conversationBegan(run, id)] : [];
    const facts = [...(how.isCreated ? [] : [created]), ...began];
    if (facts.length > 0) this.#journal.append(...facts);
    if (host.name !== record.host) amendSpec(this.#home, session, moved);
    if (id !== null) amendSpec(this.#home, session, { conversation: id });
    await this.start(run, { host, directory, title: titleOf(record), conversation: order });
    return conversation;
  }

  #readyToStart(
    record: SessionRecord,
    { run, known, why, fresh = false }: { run: RunId; known: string | null; why: EventData<"session.run_created">["why"]; fresh?: boolean },
  ) {
    try {
      // What was adopted ran where it was; its next run is ours.
      const host = this.#hostOf(record.host === "foreign" ? this.#usualHost() : record.host);
      const { spec, env } = readSessionFiles(this.#home, record.id);
      const profile = this.#profiles.find(record.agent);
      // Who begins anew says what is to be done next; what was done once is not done again by itself.
      const asked = spec.asked && why !== "restart" && record.turns > 0 ? { ...spec.asked, prompt: null } : spec.asked;
      // Until it had a turn of its own.
      const forked = spec.forkedFrom && !fresh && record.turns === 0 ? forkedOf(spec.forkedFrom, spec.cwd) : undefined;
      const isChat = record.kind === "conversation";
      const isOn = asked && !isChat ? conversationFor(profile, asked, { known, forked }, randomUUID) : null;
      const conversation = isChat && known !== null ? { resume: known } : isOn;
      const started = { spec: { ...spec, ...(asked ? { asked } : {}) }, env, profile, conversation };
      const { directory, identity } = writeLaunch(this.#home, run, started);
      const order = isChat
        ? conversationOrder({ profile, cwd: spec.cwd, chat: spec.chat, known, conversations: record.conversations, identity })
        : undefined;
      return { host, conversation, order, directory };
    } catch (error) {
      // On a full disk it is tried again.
      if (!unwritable(error)) this.#lifecycle.giveUpStart(record.id);
      throw error;
    }
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

function conversationBegan({ session, run }: RunId, conversation: string): Draft {
  return { type: "session.conversation_changed", actor: DAEMON, session, data: { run, conversation, begun: true } };
}

export function titleOf(session: { name: string; agent: string }): string {
  return `${session.name} · ${session.agent}`;
}
