/** For tests: the parts that conversations need, in a home that the next daemon finds again, with a keeper that does what the test says. */
import { appendFileSync, mkdirSync, mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConversationState, EntryDraft, HoldfastEvent, Principal, SessionId } from "@holdfast/contract";
import { type Home, KeyedMutex, openHome, runDirectory } from "@holdfast/platform";
import { DAEMON } from "../src/access/principal.ts";
import { Profiles } from "../src/agent/profiles/index.ts";
import { Approvals } from "../src/approval/approvals.ts";
import type { Rule } from "../src/approval/rules.ts";
import { Conversations } from "../src/conversation/conversations.ts";
import type { ConversationKeeper, ConversationRequest } from "../src/conversation/keeper.ts";
import type { RunId } from "../src/host/host.ts";
import { openDatabase } from "../src/journal/database.ts";
import { type Draft, Journal } from "../src/journal/journal.ts";
import { ApprovalQueries, approvalsProjection } from "../src/projection/approvals.ts";
import { MessageQueries, messagesProjection } from "../src/projection/messages.ts";
import { SessionQueries } from "../src/projection/session-queries.ts";
import { sessionsProjection } from "../src/projection/sessions.ts";
import { turnsProjection } from "../src/projection/turns.ts";
import { usageProjection } from "../src/projection/usage.ts";
import { AgentStatus } from "../src/session/status/agent-status.ts";

export const SOMEBODY = "user:tester" as Principal;
export const SESSION = "aaaaaaaaaa" as SessionId;
export const RUN: RunId = { session: SESSION, run: 1 };

const IDLE: ConversationState = {
  ready: true,
  conversation: "c1",
  turn: null,
  asks: [],
  settings: { mode: null, modes: [], model: null, models: [], commands: [] },
};

export class World implements Disposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hf-conv-"));
  readonly home: Home = openHome({ HOLDFAST_HOME: join(this.#directory.path, "home") });
  readonly db = openDatabase(":memory:");
  readonly journal = new Journal({
    db: this.db,
    projections: [sessionsProjection, approvalsProjection, messagesProjection, turnsProjection, usageProjection],
    machineName: "box",
  });
  readonly queries = new SessionQueries(this.db);
  readonly messages = new MessageQueries(this.db);
  readonly approvals = new ApprovalQueries(this.db);
  readonly told: ConversationRequest[] = [];
  /** How the keeper handles a request; by default it takes prompts and writes them into the transcript. */
  keep: (request: ConversationRequest) => Promise<ConversationState> = async (request) => this.take(request);
  /** Why the session's budget is used up; null: it is not. */
  usedUp: string | null = null;
  inbox: Approvals | undefined;
  status: AgentStatus | undefined;
  #conversations: Conversations | undefined;
  #n = 0;
  #count = 0;
  #turn: string | null = null;

  constructor(kind: "conversation" | "terminal" = "conversation") {
    mkdirSync(runDirectory(this.home, SESSION, 1), { recursive: true });
    const data = { name: "fix", kind, agent: "demo", role: null, objective: null, host: "native", cwd: "/code", command: ["x"] };
    this.append("session.created", data);
    this.append("session.started", { run: 1, pid: 7, pidStart: "x", outputPath: "/out" });
  }

  /** Starts a daemon. */
  begin(rules: readonly Rule[] = []): Conversations {
    const { home, journal, queries, db } = this;
    const profiles = new Profiles();
    const hosts = new Map();
    this.status = new AgentStatus({ home, journal, queries, hosts, profiles });
    this.inbox = new Approvals({
      home,
      journal,
      queries: new ApprovalQueries(db),
      sessions: queries,
      profiles,
      status: this.status,
      rules,
      hosts,
      typing: new KeyedMutex(),
    });
    const keeper: ConversationKeeper = {
      converse: async (_, request) => {
        this.told.push(request);
        return this.keep(request);
      },
    };
    const { messages, status, inbox: approvals } = this;
    this.#conversations = new Conversations({
      home,
      journal,
      queries,
      messages,
      status,
      approvals,
      keeper,
      said: ({ text }) => `said: ${text}`,
      usedUp: () => this.usedUp,
      expire: () => {},
    });
    this.status.began(RUN);
    this.#conversations.began(RUN);
    this.#conversations.begin();
    return this.#conversations;
  }

  /** Kills the daemon: only what is on disk remains. */
  kill(): void {
    this.#conversations?.[Symbol.dispose]();
    this.inbox?.[Symbol.dispose]();
    this.status?.[Symbol.dispose]();
  }

  /** Takes a prompt as a keeper does. */
  take(request: ConversationRequest): ConversationState {
    if (request.t === "prompt") {
      const { message, from, text, addition, steer } = request;
      if (this.#turn === null || !steer) this.#turn = message;
      this.write({ type: "user", message, from, text, addition, steer });
    }
    return { ...IDLE, turn: this.#turn };
  }

  /** Appends as the keeper does, and notifies the follower. */
  write(...drafts: EntryDraft[]): void {
    for (const draft of drafts) {
      const entry = { v: 1, n: ++this.#n, at: new Date().toISOString(), turn: this.#turn, ...draft };
      this.raw(`${JSON.stringify(entry)}\n`);
      if (draft.type === "turn_ended") this.#turn = null;
    }
    this.#conversations?.look(RUN);
  }

  raw(text: string): void {
    appendFileSync(this.transcript, text);
  }

  get transcript(): string {
    return join(runDirectory(this.home, SESSION, 1), "transcript.jsonl");
  }

  get lines(): string[] {
    return readFileSync(this.transcript, "utf8").split("\n").filter(Boolean);
  }

  queue(text: string, { steer = false, from = SOMEBODY } = {}): string {
    const id = `m${++this.#count}`;
    this.append("message.queued", { id, text, steer }, from);
    return id;
  }

  end(run = 1, cause: "stopped" | "lost" = "stopped"): void {
    this.append("session.ended", {
      run,
      cause,
      exit: cause === "lost" ? null : { code: 0, signal: null },
      endedAt: new Date().toISOString(),
      lastActivityAt: null,
    });
  }

  append(type: string, data: object, actor: Principal = DAEMON): void {
    this.journal.append({ type, actor, session: SESSION, data } as Draft);
  }

  /** Events in the journal, by type. */
  events<T extends HoldfastEvent["type"]>(...types: T[]): Extract<HoldfastEvent, { type: T }>[] {
    return this.journal.readAfter(0, 10_000, { types }) as Extract<HoldfastEvent, { type: T }>[];
  }

  [Symbol.dispose](): void {
    this.kill();
    this.db.close();
    this.#directory.remove();
  }
}
