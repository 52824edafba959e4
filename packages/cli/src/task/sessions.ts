/**
 * Items as conversation sessions of the daemon. Everything that must not be lost is there: which session has which item (`startTask`), and what
 * was said to it. The id of each message follows from the task and the turn: whoever runs the file again says the same message, and the daemon
 * knows whether it was said, and what was answered. So a run can be killed at any time, and the next one goes on where it was.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { reachedText } from "@holdfast/contract/amounts";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Message } from "@holdfast/contract/message";
import type { Session } from "@holdfast/contract/session";
import type { Task } from "@holdfast/contract/task";
import type { HoldfastClient } from "@holdfast/sdk/client";

import { outcome } from "../message-text.ts";
import { isOver } from "../next-run.ts";
import { callerEnvironment } from "../start-session.ts";
import { waitsFor } from "../status-text.ts";
import { type Hands, handsFor } from "./hands.ts";
import type { TaskItem } from "./parse.ts";
import type { Doing, Turns } from "./turns.ts";
import { isCutOff } from "./work.ts";

/** Of one request; after it, what the agent waits for is looked at. */
const ONE_WAIT_MS = 1000;
const MOST_ATTEMPTS = 100;

export interface Where {
  /** The task file, by its real path: an item is known by it. */
  file: string;
  cwd: string;
  /** In a worktree of its own each. */
  worktree: boolean;
  hands: Hands;
}

export class SessionTurns implements Turns {
  readonly #client: HoldfastClient;
  readonly #where: Where;
  /** Those that this run has taken for an item. */
  readonly #taken = new Set<string>();

  private constructor(client: HoldfastClient, where: Where) {
    this.#client = client;
    this.#where = where;
  }

  /** What an earlier run has begun is gone on with; an item that was ticked before its end was told has ended. */
  static async open(client: HoldfastClient, where: Where, items: readonly TaskItem[]): Promise<SessionTurns> {
    const turns = new SessionTurns(client, where);
    const open = await turns.#open();
    for (const item of items.filter(({ done }) => done)) {
      const task = turns.#begun(item, open);
      if (task) await turns.#end(task, "done", null);
    }
    return turns;
  }

  async start(item: TaskItem): Promise<Doing> {
    // Asked each time: another run of the file may have begun it meanwhile, and then both wait for the same.
    const begun = this.#begun(item, await this.#open());
    const session = begun && (await this.#again(begun));
    if (begun && session) return this.#doing(item, { task: begun, session, goesOn: true });
    const fresh = await this.#spawn(item);
    const body = { title: item.title, file: this.#where.file, label: item.label, turns: item.turns.length };
    const task = await this.#client.call("startTask", { params: { ref: fresh.id }, body });
    this.#taken.add(task.id);
    return this.#doing(item, { task, session: fresh, goesOn: false });
  }

  async #open(): Promise<Task[]> {
    return (await this.#client.call("listTasks", { query: { file: this.#where.file, open: true } })).tasks;
  }

  /** By its words; of several with the same, the one with its number. */
  #begun({ title, turns, label }: TaskItem, open: readonly Task[]): Task | undefined {
    const same = open.filter((task) => !this.#taken.has(task.id) && task.title === title && task.turns === turns.length);
    const found = same.find((task) => task.label === label) ?? same[0];
    if (found) this.#taken.add(found.id);
    return found;
  }

  /** Its session, running; undefined where it cannot be gone on with, and it is begun anew. */
  async #again(task: Task): Promise<Session | undefined> {
    try {
      const session = await this.#client.call("getSession", { params: { ref: task.session } });
      if (!isOver(session)) return session;
      const { resumed: _, ...next } = await this.#client.call("resumeSession", { params: { ref: task.session }, body: {} });
      return next;
    } catch (error) {
      if (isCutOff(error)) throw error;
      const { message } = HoldfastError.from(error);
      await this.#client.call("endTask", { params: { id: task.id }, body: { outcome: "cancelled", why: message } }).catch(() => {});
      return undefined;
    }
  }

  async #spawn(item: TaskItem): Promise<Session> {
    const { hands, cwd, worktree } = this.#where;
    const { budget, model } = item;
    const body = {
      ...handsFor(item, hands),
      chat: true,
      cwd,
      env: callerEnvironment(),
      umask: process.umask(),
      objective: item.title,
      ...(model === undefined ? {} : { model }),
      ...(budget === undefined ? {} : { budget }),
      ...(worktree ? { worktree: { setup: true } } : {}),
    };
    for (const name of namesFor(this.#where.file, item)) {
      try {
        return await this.#client.call("spawn", { body: { ...body, name } });
      } catch (error) {
        if (HoldfastError.from(error).code !== "name_taken") throw error;
        const left = await this.#leftOver(name, item);
        if (left) return left;
      }
    }
    return this.#client.call("spawn", { body });
  }

  /** A run that died when it had begun a session, and not yet said for what, has left it to the next. */
  async #leftOver(name: string, item: TaskItem): Promise<Session | undefined> {
    const session = await this.#client.call("getSession", { params: { ref: name } }).catch(() => undefined);
    if (session?.kind !== "conversation" || session.turns !== 0 || isOver(session)) return undefined;
    const { agent } = handsFor(item, this.#where.hands);
    const isLike = session.objective === item.title && session.cwd === this.#where.cwd && session.agent === agent;
    if (!isLike) return undefined;
    const { tasks } = await this.#client.call("listTasks", { query: { session: session.id } });
    return tasks.length === 0 ? session : undefined;
  }

  #doing(item: TaskItem, { task, session, goesOn }: { task: Task; session: Session; goesOn: boolean }): Doing {
    return {
      session: session.name,
      agent: session.agent,
      goesOn,
      prompt: async (turn, how) => {
        const said = await this.#say(task, turn, item.turns[turn] ?? "");
        return this.#answer(said, how);
      },
      end: (ended, why) => this.#end(task, ended, why),
    };
  }

  /** One that failed before is said again, as another message. */
  async #say(task: Task, turn: number, text: string): Promise<Message> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const body = { text, id: messageId(task.id, turn, attempt) };
      const { message } = await this.#client.call("sendMessage", { params: { ref: task.session }, body });
      if (message === null) throw new HoldfastError("not_a_conversation", `${task.name} tells nothing of what it does`);
      const isOld = message.state === "failed" || message.state === "cancelled";
      if (!isOld) return message;
    }
    throw new HoldfastError("message_failed", `turn ${turn + 1} failed ${MOST_ATTEMPTS} times`);
  }

  async #answer(message: Message, { signal, onWait }: Parameters<Doing["prompt"]>[1]): Promise<string | null> {
    let waited = "";
    for (let now = message; ; ) {
      if (now.state === "replied") return now.reply;
      if (now.endedAt !== null || now.settled) throw await this.#noAnswer(now);
      if (now.held) throw await this.#takenBack(now);
      if (signal.aborted) throw new HoldfastError("timeout", "nobody waits for it any more");
      const query = { until: "replied", waitMs: ONE_WAIT_MS } as const;
      now = await this.#client.call("getMessage", { params: { id: message.id }, query });
      const session =
        now.endedAt === null ? await this.#client.call("getSession", { params: { ref: message.session ?? message.name } }) : undefined;
      const waits = session?.attention ? waitsFor(session, Date.now()) : "";
      if (waits !== waited) onWait(waits);
      waited = waits;
    }
  }

  /** What runs the item again says it itself. */
  async #takenBack(message: Message): Promise<HoldfastError> {
    await this.#client.call("cancelMessage", { params: { id: message.id } }).catch(() => {});
    return outcome(message);
  }

  /** Why there is none: its budget, where that has ended it. */
  async #noAnswer(message: Message): Promise<HoldfastError> {
    const { code, message: told } = outcome(message);
    const session = await this.#client.call("getSession", { params: { ref: message.session ?? message.name } }).catch(() => undefined);
    const spent = session?.budget?.exceeded;
    // More for the session that was stopped would tick no box.
    const budget = spent && `its budget is used up: ${reachedText(spent)}; allow it more in the file: <!-- budget: ${spent.limit}=… -->`;
    return new HoldfastError(code, budget ?? message.why ?? told);
  }

  async #end(task: Task, ended: "done" | "failed", why: string | null): Promise<void> {
    await this.#client.call("endTask", { params: { id: task.id }, body: { outcome: ended, why } });
    // Its agent would wait for ever for another turn. The conversation stays, and can be resumed.
    await this.#client.call("stopSession", { params: { ref: task.session }, body: {} }).catch((error: unknown) => {
      if (!["session_ended", "session_not_found"].includes(HoldfastError.from(error).code)) throw error;
    });
  }
}

/** `tasks-3`, and others where that is taken. */
function namesFor(file: string, { label }: TaskItem): string[] {
  const stem = basename(file)
    .replace(/\.[^.]*$/, "")
    .normalize("NFC")
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, "-")
    .replaceAll(/^[^\p{L}\p{N}]+|[._-]+$/gu, "")
    .slice(0, 40);
  const name = `${stem === "" ? "task" : stem}-${label}`;
  return [name, ...Array.from({ length: 20 }, (_, index) => `${name}-${index + 2}`)];
}

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** The same for the same turn, whoever says it. */
export function messageId(task: string, turn: number, attempt: number): string {
  const bytes = createHash("sha256").update(`${task} ${turn} ${attempt}`).digest();
  const letters = [...bytes.subarray(1, 10)].map((byte) => ALPHABET[byte % 32]).join("");
  return `${ALPHABET[(bytes[0] ?? 0) % 26]}${letters}`;
}
