/**
 * What happened in a session since somebody last looked. Built from indexed data: news (journal/news.ts), turns, and the current state of the
 * messages and approvals that they name; status changes in between are not read. Git is queried only if there is news, with a time limit,
 * because the reader of a digest is about to do something else.
 */
import type { DatabaseSync } from "node:sqlite";
import {
  type AgentTranscript,
  type Approval,
  type Digest,
  type EventData,
  HoldfastError,
  type LastReply,
  type Message,
  type Principal,
  type Session,
  type SessionId,
  type WorkDone,
} from "@holdfast/contract";
import { describe, log } from "@holdfast/platform";
import type { Profiles } from "../agent/profiles/index.ts";
import { filesOf, lastReplyIn, type Transcript, type Whose } from "../agent/transcript.ts";
import { pieceOf } from "../agent/transcript-piece.ts";
import type { Journal } from "../journal/journal.ts";
import { lookBefore } from "../projection/looks.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { TaskQueries } from "../projection/tasks.ts";
import { TurnQueries } from "../projection/turns.ts";
import type { WorkspaceQueries } from "../projection/workspaces.ts";
import type { Environment } from "../workspace/git/git.ts";
import { headOf, mayBeInTree, workSince } from "../workspace/git/work-since.ts";
import type { Looks } from "./looks.ts";
import {
  answersOf,
  checkpointsUpTo,
  handoversOf,
  idsOf,
  lastNews,
  MOST_NEWS,
  newsUpTo,
  ofType,
  placeBefore,
  readNews,
  runsOf,
  troublesOf,
} from "./news.ts";

/** Time limit for git on a slow disk or in a huge repository; the digest is then shown without it. */
const GIT_MS = 5000;
const GIT_BRIEF_MS = 500;

/** Concurrent digests of a list: each runs a few git processes. */
const AT_ONCE = 4;

const LISTED_TURNS = 50;

export interface DigestRooms {
  db: DatabaseSync;
  journal: Journal;
  queries: SessionQueries;
  workspaces: WorkspaceQueries;
  profiles: Profiles;
  looks: Looks;
  envOf(session: SessionId): Environment | undefined;
  /** The model usage after a journal position. */
  spentSince(session: SessionId, seq: number): Digest["spent"];
  sessions: { list(filter: { names: readonly string[] }): { sessions: Session[] } };
  messages: { get(id: string): Message };
  approvals: { get(id: string): Approval; list(filter: { all: boolean; sessions: readonly SessionId[] }): Approval[] };
}

export class Digests {
  readonly #rooms: DigestRooms;
  readonly #turns: TurnQueries;
  readonly #tasks: TaskQueries;

  constructor(rooms: DigestRooms) {
    this.#rooms = rooms;
    this.#turns = new TurnQueries(rooms.db);
    this.#tasks = new TaskQueries(rooms.db);
  }

  async of(ref: string, how: { actor: Principal; since?: string | undefined; brief: boolean; again: boolean }): Promise<Digest> {
    const record = this.#rooms.queries.resolve(ref);
    const since = how.again && how.since === undefined ? this.#before(record, how.actor) : this.#since(record, how);
    return this.#digest(record, since, { files: !how.brief, ms: how.brief ? GIT_BRIEF_MS : GIT_MS });
  }

  async list(how: {
    actor: Principal;
    since?: string | undefined;
    within?: readonly SessionId[] | undefined;
    limit: number;
  }): Promise<{ digests: Digest[]; more: number }> {
    const all = this.#rooms.queries.select({ all: true }).filter(({ id }) => how.within?.includes(id) ?? true);
    const told = all.flatMap((record) => {
      const since = this.#since(record, how);
      const last = this.#lastNews(record, since.seq);
      return record.status === "waiting" || last !== undefined ? [{ record, since, last: last ?? 0 }] : [];
    });
    const waits = (record: SessionRecord) => (record.status === "waiting" ? 0 : 1);
    told.sort((a, b) => waits(a.record) - waits(b.record) || b.last - a.last);
    const todo = told.slice(0, how.limit).map((each, index) => ({ ...each, index }));
    const digests: Digest[] = [];
    const work = async () => {
      for (let next = todo.shift(); next; next = todo.shift()) {
        digests[next.index] = await this.#digest(next.record, next.since, { files: false, ms: GIT_BRIEF_MS });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { digests, more: Math.max(0, told.length - how.limit) };
  }

  /** Records that the caller has seen the session up to this position. */
  async look(ref: string, how: { actor: Principal; upTo?: number | undefined; head?: string | null | undefined }): Promise<Session> {
    const record = this.#rooms.queries.resolve(ref);
    const { seq } = this.#rooms.journal.cursor;
    const head = how.head === undefined ? await this.#head(record) : how.head;
    this.#rooms.looks.note(record.id, how.actor, { upTo: Math.min(how.upTo ?? seq, seq), head });
    return this.#view(record);
  }

  /** The agent's last reply; throws if it is unknown. */
  last(ref: string): LastReply {
    const record = this.#rooms.queries.resolve(ref);
    const session = this.#view(record);
    const told = this.#turns.lastReply(record.id);
    const byHook = told && { session, reply: told.reply, cut: told.cut, at: told.toldAt, turn: told.turn, source: "hook" as const };
    // The hooks of a later run may have reported nothing.
    if (byHook && (told.run === record.run || told.turn >= record.turns)) return byHook;
    const profile = this.#rooms.profiles.find(record.agent);
    const written = this.#written(record, profile?.transcript);
    if (written) return { session, reply: written.text, cut: false, at: written.at, turn: null, source: "transcript" };
    if (byHook) return byHook;
    throw unknownReply(record, profile?.hooks?.rules.some(({ reply }) => reply !== undefined) ?? false);
  }

  /** The agent's own record of the conversation. */
  agentTranscript(ref: string, how: { from: number; limit: number }): AgentTranscript {
    const record = this.#rooms.queries.resolve(ref);
    const transcript = this.#rooms.profiles.find(record.agent)?.transcript;
    const whose = this.#whose(record);
    const files = transcript && whose ? [...filesOf(transcript, whose)] : [];
    return { session: record.id, files, ...pieceOf(files, how) };
  }

  #written(record: SessionRecord, transcript: Transcript | undefined): ReturnType<typeof lastReplyIn> {
    const whose = this.#whose(record);
    return transcript && whose ? lastReplyIn(transcript, whose) : undefined;
  }

  #whose({ id, conversation, cwd }: SessionRecord): Whose | undefined {
    if (conversation === null) return undefined;
    const env = Object.entries(this.#rooms.envOf(id) ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return { conversation, cwd, env: Object.fromEntries(env) };
  }

  #since(record: SessionRecord, { actor, since }: { actor: Principal; since?: string | undefined }): Since {
    const { looks, db, journal } = this.#rooms;
    if (since !== undefined) return { seq: placeBefore(db, since, journal.cursor.seq), at: since, why: "asked", head: null };
    const look = looks.of(record.id, actor);
    if (look) return { seq: look.upTo, at: look.at, why: "looked", head: look.head };
    return beginOf(record);
  }

  /** The look before the last one that showed news; without one, the digest shows everything. */
  #before(record: SessionRecord, actor: Principal): Since {
    const { looks, db } = this.#rooms;
    const look = looks.of(record.id, actor);
    const told = look && Math.max(newsUpTo(db, record.id, look.upTo) ?? 0, this.#turns.lastUpTo(record.id, look.upTo));
    const before = told === undefined ? undefined : lookBefore(db, { session: record.id, principal: actor, told });
    return before ? { seq: before.upTo, at: before.at, why: "looked", head: before.head } : beginOf(record);
  }

  /** Turns that began or ended are status changes, which are not indexed. */
  #lastNews({ id, createdAt }: SessionRecord, seq: number): number | undefined {
    const last = Math.max(lastNews(this.#rooms.db, id, seq) ?? 0, this.#tasks.lastAfter(id, seq) ?? 0);
    if (last > 0) return last;
    const { began, ended } = this.#turns.since(id, { seq, at: createdAt, list: 0 });
    return began + ended > 0 ? seq : undefined;
  }

  async #digest(record: SessionRecord, { head, ...since }: Since, how: { files: boolean; ms: number }): Promise<Digest> {
    const { db, journal, messages } = this.#rooms;
    const upTo = journal.cursor.seq;
    const read = readNews(db, record.id, since.seq);
    const events = read.slice(-MOST_NEWS);
    const { limits, ...turns } = this.#turns.since(record.id, { ...since, list: LISTED_TURNS });
    const checkpoints = ofType(events, "checkpoint.created");
    const tasks = this.#tasks.since(record.id, since.seq);
    const told: Omit<Digest, "work" | "news"> = {
      session: this.#view(record),
      since,
      upTo,
      turns,
      answers: answersOf(events),
      messages: idsOf(events, "message.").flatMap((id) => found(() => messages.get(id))),
      tasks,
      approvals: this.#approvals(record.id, idsOf(events, "approval.")),
      troubles: troublesOf(events, limits),
      spent: this.#rooms.spentSince(record.id, since.seq),
      runs: runsOf(events),
      checkpoints: checkpoints.map(({ data: { number, at, turn, files } }) => ({ number, at, turn, files })),
      handovers: handoversOf(events),
      more: read.length > MOST_NEWS,
    };
    const happened = events.length > 0 || tasks.length > 0 || turns.began + turns.ended > 0 || limits.length > 0;
    const trees = how.files ? this.#trees(record.id, since.seq, checkpoints.at(-1)?.data) : undefined;
    const from = { commit: head, at: since.at > record.createdAt ? since.at : record.createdAt };
    const asked = { from, files: how.files && happened, trees };
    const work = await this.#git(record, asked, how.ms);
    return { ...told, work, news: happened || (work?.commitCount ?? 0) > 0 };
  }

  /** Includes open approvals that were requested earlier. */
  #approvals(session: SessionId, ids: readonly string[]): Approval[] {
    const { approvals } = this.#rooms;
    const waiting = approvals.list({ all: false, sessions: [session] });
    const before = waiting.filter(({ id }) => !ids.includes(id));
    return [...before, ...ids.flatMap((id) => found(() => approvals.get(id)))];
  }

  /** The files after the last turn before the look and after the newest turn, if both have a checkpoint. */
  #trees(session: SessionId, seq: number, last: EventData<"checkpoint.created"> | undefined) {
    if (!last) return undefined;
    const first = checkpointsUpTo(this.#rooms.db, session, seq) ?? this.#firstCheckpoint(session);
    // A single checkpoint shows a state, not a change.
    const isApart = first?.id === last.id && first.number !== last.number;
    return first && isApart ? { from: first.tree, to: last.tree, turn: last.turn } : undefined;
  }

  #firstCheckpoint(session: SessionId): EventData<"checkpoint.created"> | undefined {
    const [first] = this.#rooms.journal.readAfter(0, 1, { session, types: ["checkpoint.created"] });
    return first && (first.data as EventData<"checkpoint.created">);
  }

  async #git(record: SessionRecord, asked: Parameters<typeof workSince>[1], ms: number): Promise<WorkDone | null> {
    const directory = this.#directory(record);
    if (!mayBeInTree(directory)) return null;
    try {
      const options = { env: this.#rooms.envOf(record.id), signal: AbortSignal.timeout(ms) };
      return (await workSince(directory, asked, options)) ?? null;
    } catch (error) {
      log(`session ${record.id}: git cannot list its changes: ${describe(error)}`);
      return null;
    }
  }

  async #head(record: SessionRecord): Promise<string | null> {
    const options = { env: this.#rooms.envOf(record.id), signal: AbortSignal.timeout(GIT_BRIEF_MS) };
    return headOf(this.#directory(record), options).catch(() => null);
  }

  #view({ id }: SessionRecord): Session {
    const [session] = this.#rooms.sessions.list({ names: [id] }).sessions;
    if (!session) throw new HoldfastError("session_not_found", `session ${id} was removed`);
    return session;
  }

  #directory({ cwd, workspace }: SessionRecord): string {
    const place = workspace && this.#rooms.workspaces.get(workspace.id);
    return place && place.removedAt === null ? place.path : cwd;
  }
}

/** Leaves out an item that an event names but a restored journal no longer has. */
function found<T>(get: () => T): T[] {
  try {
    return [get()];
  } catch (error) {
    if (HoldfastError.from(error).code.endsWith("_not_found")) return [];
    throw error;
  }
}

type Since = Digest["since"] & { head: string | null };

function beginOf({ createdAt }: SessionRecord): Since {
  return { seq: 0, at: createdAt, why: "began", head: null };
}

function unknownReply({ name, kind, agent, turns }: SessionRecord, tells: boolean): HoldfastError {
  if (kind === "shell") {
    return new HoldfastError("reply_unknown", `${name} is a command and has no answers`, {
      hint: `read its output: holdfast logs ${name}`,
    });
  }
  const screen = `read its screen: holdfast screen ${name}; or its output: holdfast logs ${name} --tail 40`;
  if (!tells) return new HoldfastError("reply_unknown", `${agent} does not report its answers`, { hint: screen });
  const why =
    turns === 0 ? `${name} has not had a turn yet` : `${name} has not answered yet: it is in its first turn, or its hooks are turned off`;
  return new HoldfastError("reply_unknown", why, { hint: turns === 0 ? `send it a message: holdfast send ${name} TEXT` : screen });
}
