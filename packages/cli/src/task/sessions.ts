/**
 * Runs items as conversation sessions of the daemon, which stores all lasting state: the session of each item (`startTask`), and its messages. A
 * message's id is derived from the task and the turn, so another run of the file sends the same message, and the daemon knows whether it was
 * sent and answered. A run can therefore be killed at any time, and the next one continues.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Message } from "@holdfast/contract/message/message";
import type { Session } from "@holdfast/contract/session/session";
import type { Task } from "@holdfast/contract/task/task";
import { reachedText } from "@holdfast/contract/usage/amounts";
import type { HoldfastClient } from "@holdfast/sdk/client";

import { outcome } from "../message/text.ts";
import { isOver } from "../session/next-run.ts";
import { callerEnvironment } from "../session/start.ts";
import { waitsFor } from "../session/status-text.ts";
import { type Hands, handsFor } from "./hands.ts";
import type { TaskItem } from "./parse.ts";
import type { Doing, Turns } from "./turns.ts";
import { isCutOff } from "./work.ts";

/** Wait of one request; after it, the agent's open requests are checked. */
const ONE_WAIT_MS = 1000;
const MOST_ATTEMPTS = 100;

export interface Where {
  /** Real path of the task file, which identifies its items. */
  file: string;
  cwd: string;
  /** Gives each item its own worktree. */
  worktree: boolean;
  hands: Hands;
  /** Notes about the start of an item's session. */
  onNote?(note: string): void;
}

export class SessionTurns implements Turns {
  readonly #client: HoldfastClient;
  readonly #where: Where;
  /** Tasks that this run has matched to an item. */
  readonly #taken = new Set<string>();

  private constructor(client: HoldfastClient, where: Where) {
    this.#client = client;
    this.#where = where;
  }

  /** Continues the tasks of an earlier run. Ends tasks whose items are already checked off. */
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
    // Read each time: another run of the file may have started the item meanwhile, and then both wait for it.
    const begun = this.#begun(item, await this.#open());
    const session = begun && (await this.#again(begun));
    if (begun && session) return this.#doing(item, { task: begun, session, goesOn: true });
    const fresh = await this.#spawn(item);
    for (const note of fresh.notes ?? []) this.#where.onNote?.(note);
    const body = { title: item.title, file: this.#where.file, label: item.label, turns: item.turns.length };
    const task = await this.#client.call("startTask", { params: { ref: fresh.id }, body });
    this.#taken.add(task.id);
    return this.#doing(item, { task, session: fresh, goesOn: false });
  }

  async #open(): Promise<Task[]> {
    return (await this.#client.call("listTasks", { query: { file: this.#where.file, open: true } })).tasks;
  }

  /** Matches by title; among equal titles, by label. */
  #begun({ title, turns, label }: TaskItem, open: readonly Task[]): Task | undefined {
    const same = open.filter((task) => !this.#taken.has(task.id) && task.title === title && task.turns === turns.length);
    const found = same.find((task) => task.label === label) ?? same[0];
    if (found) this.#taken.add(found.id);
    return found;
  }

  /** The task's session, running. Undefined if it cannot be continued; the item then starts over. */
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

  async #spawn(item: TaskItem): Promise<Session & { notes?: string[] }> {
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

  /** Finds a session whose run died after starting it and before recording its task. */
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

  /** Sends a turn's message. A message that failed before is sent again with another id. */
  async #say(task: Task, turn: number, text: string): Promise<Message> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const body = { text, id: messageId(task.id, turn, attempt) };
      const { message } = await this.#client.call("sendMessage", { params: { ref: task.session }, body });
      if (message === null)
        throw new HoldfastError("not_a_conversation", `${task.name} is not a conversation, so its turns cannot be followed`);
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
      if (signal.aborted) throw new HoldfastError("timeout", "the run was cancelled while the item was in progress");
      const query = { until: "replied", waitMs: ONE_WAIT_MS } as const;
      now = await this.#client.call("getMessage", { params: { id: message.id }, query });
      const session =
        now.endedAt === null ? await this.#client.call("getSession", { params: { ref: message.session ?? message.name } }) : undefined;
      const waits = session?.attention ? waitsFor(session, Date.now()) : "";
      if (waits !== waited) onWait(waits);
      waited = waits;
    }
  }

  /** Withdraws the message: another run of the item sends it itself. */
  async #takenBack(message: Message): Promise<HoldfastError> {
    await this.#client.call("cancelMessage", { params: { id: message.id } }).catch(() => {});
    return outcome(message);
  }

  /** The reason for a missing answer: the budget, if it ended the session. */
  async #noAnswer(message: Message): Promise<HoldfastError> {
    const { code, message: told } = outcome(message);
    const session = await this.#client.call("getSession", { params: { ref: message.session ?? message.name } }).catch(() => undefined);
    const spent = session?.budget?.exceeded;
    // A larger budget for the stopped session would not check off the item.
    const budget = spent && `its budget is used up: ${reachedText(spent)}; allow it more in the file: <!-- budget: ${spent.limit}=… -->`;
    return new HoldfastError(code, budget ?? message.why ?? told);
  }

  async #end(task: Task, ended: "done" | "failed", why: string | null): Promise<void> {
    await this.#client.call("endTask", { params: { id: task.id }, body: { outcome: ended, why } });
    // The agent would wait forever for another turn. The conversation stays, and can be resumed.
    await this.#client.call("stopSession", { params: { ref: task.session }, body: {} }).catch((error: unknown) => {
      if (!["session_ended", "session_not_found"].includes(HoldfastError.from(error).code)) throw error;
    });
  }
}

/** `tasks-3`, then alternatives if that name is taken. */
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

/** Returns the same id for the same turn in every run. */
export function messageId(task: string, turn: number, attempt: number): string {
  const bytes = createHash("sha256").update(`${task} ${turn} ${attempt}`).digest();
  const letters = [...bytes.subarray(1, 10)].map((byte) => ALPHABET[byte % 32]).join("");
  return `${ALPHABET[(bytes[0] ?? 0) % 26]}${letters}`;
}
