/**
 * Restores sessions that were lost when the machine or their keeper went down. Sessions lost at the same time form a generation: it is recorded once,
 * with the conversation of each session, and kept whatever a restore does. A session is due until a later run has shown that it is back, so a restore
 * can be repeated and tries only what is missing.
 */
import { availableParallelism } from "node:os";
import type { DatabaseSync } from "node:sqlite";
import {
  type Generation,
  HoldfastError,
  hasEnded,
  newSessionId,
  type Principal,
  type RestoreItem,
  type SessionId,
} from "@holdfast/contract";
import { boot, counted, describe, log } from "@holdfast/platform";
import { DAEMON } from "../../access/principal.ts";
import type { Draft, Journal } from "../../journal/journal.ts";
import { readGenerations } from "../../projection/generations.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";
import { isInteractiveShell } from "../run/interactive-shell.ts";
import type { Sessions } from "../sessions.ts";

/** Runs that vanish together are noticed one after the other. */
const TOGETHER_MS = 500;

/** How long an agent may take to show anything: some take half a minute on a busy machine. */
const SHOWS_MS = 60_000;

/** Concurrent starts: an agent needs a core for a while, and is then waited for until it shows something. */
const AT_ONCE = Math.min(16, Math.max(4, 2 * availableParallelism()));

/** Automatic attempts within this time, before the daemon leaves the rest to a person. */
const MOST_TRIES = 3;
const TRIES_WITHIN_MS = 10 * 60_000;

/** Longest time before the machine went down in which a signal counts as part of the shutdown. */
const SHUTDOWN_MS = 120_000;

/** The same for a program whose exit is unknown. */
const TOGETHER_AT_SHUTDOWN_MS = 10_000;

const GO_ON = "Your work was interrupted: the process that kept you running ended. Check what is already done, and continue with the rest.";

export class Restoring implements Disposable {
  readonly #journal: Journal;
  readonly #db: DatabaseSync;
  readonly #queries: SessionQueries;
  readonly #sessions: Sessions;
  readonly #auto: boolean;
  readonly #ending = new AbortController();
  #running = false;

  constructor(options: { journal: Journal; db: DatabaseSync; queries: SessionQueries; sessions: Sessions; auto: boolean }) {
    this.#journal = options.journal;
    this.#db = options.db;
    this.#queries = options.queries;
    this.#sessions = options.sessions;
    this.#auto = options.auto;
  }

  begin(): void {
    this.#noteShutdown();
    this.#record();
    this.#follow(this.#journal.cursor.seq).catch((error: unknown) => log(`losses are no longer recorded: ${describe(error)}`));
    if (this.#auto) this.#restoreByItself().catch((error: unknown) => log(`restore: ${describe(error)}`));
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
  }

  list(): { generations: Generation[]; due: RestoreItem[]; last: { at: string; auto: boolean; items: RestoreItem[] } | null } {
    const last = this.#journal.lastOf("restore.ended");
    const told = last && (last.data as { auto: boolean; items: RestoreItem[] });
    return {
      generations: readGenerations(this.#db),
      due: this.#due().map((record) => this.#plan(record, record.conversation)),
      last: told ? { at: last.at, auto: told.auto, items: told.items } : null,
    };
  }

  async run(how: {
    dryRun: boolean;
    generation?: number | undefined;
    names?: readonly string[] | undefined;
    actor: Principal;
    auto?: boolean;
  }): Promise<{ generation: number | null; items: RestoreItem[] }> {
    const wanted = this.#wanted(how);
    const generation = how.generation ?? null;
    const planned = wanted.map(({ record, conversation }) => this.#plan(record, conversation));
    if (how.dryRun) return { generation, items: planned };
    if (this.#running)
      throw new HoldfastError("restore_running", "a restore is already in progress", { hint: "see its progress: holdfast restore ls" });
    const auto = how.auto ?? false;
    const tried = planned.filter(({ outcome }) => outcome === "would");
    this.#running = true;
    try {
      // Before the first start: an attempt that the daemon or the machine does not survive counts too.
      if (tried.length > 0) {
        const sessions = tried.map(({ id }) => id);
        this.#journal.append({ type: "restore.started", actor: how.actor, session: null, data: { generation, auto, sessions } });
      }
      const items: RestoreItem[] = [];
      const todo = wanted.map((each, index) => ({ ...each, item: planned[index] as RestoreItem, index }));
      const work = async () => {
        for (let next = todo.shift(); next; next = todo.shift()) {
          items[next.index] =
            next.item.outcome === "would" ? await this.#bring(next.record, next.conversation, next.item, how.actor) : next.item;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      if (items.length > 0) {
        this.#journal.append({ type: "restore.ended", actor: how.actor, session: null, data: { generation, auto, items } });
      }
      return { generation, items };
    } finally {
      this.#running = false;
    }
  }

  #wanted({ generation: number, names }: { generation?: number | undefined; names?: readonly string[] | undefined }) {
    const chosen = names && new Set(names.map((name) => this.#queries.resolve(name).id));
    const isChosen = ({ id }: { id: SessionId }) => chosen?.has(id) ?? true;
    if (number === undefined) {
      const named = names?.map((name) => this.#queries.resolve(name));
      const records = named ? named.filter(({ id }, at) => named.findIndex((each) => each.id === id) === at) : this.#due();
      return records.map((record) => ({ record, conversation: record.conversation }));
    }
    const generations = readGenerations(this.#db);
    const generation = generations.find((each) => each.number === number);
    if (!generation) {
      throw new HoldfastError("generation_not_found", `no loss has the number ${number}`, {
        hint: "list losses: holdfast restore ls",
        candidates: generations.map((each) => String(each.number)),
      });
    }
    return generation.sessions.filter(isChosen).flatMap(({ id, conversation }) => {
      const record = this.#queries.get(id);
      return record ? [{ record, conversation }] : [];
    });
  }

  /** Lost sessions that are not running. */
  #due(): SessionRecord[] {
    return this.#queries.lost().filter(({ status }) => hasEnded(status));
  }

  #plan(record: SessionRecord, conversation: string | null): RestoreItem {
    const { id, name, agent } = record;
    const item = { id, name, agent, conversation, hint: null };
    if (!hasEnded(record.status)) return { ...item, outcome: "skipped", why: "it is running" };
    if (record.restartAt !== null) return { ...item, outcome: "skipped", why: "its restart policy starts it again" };
    if (record.kind === "shell" && !isInteractiveShell(record.command)) {
      return {
        ...item,
        outcome: "skipped",
        why: "commands are not run again automatically",
        hint: `run it again: holdfast resume ${name}`,
      };
    }
    try {
      const known = this.#sessions.checkResume(record, { fresh: false, conversation: ofThen(record, conversation), actor: DAEMON });
      const why =
        record.kind === "shell"
          ? "a new shell in its directory"
          : known === null
            ? record.forkedFrom === null
              ? startsAnew(record)
              : `continues a copy of the conversation of ${record.forkedFrom.name}`
            : "continues its conversation";
      return { ...item, outcome: "would", why };
    } catch (error) {
      const { message, hint = null } = HoldfastError.from(error);
      return { ...item, outcome: "failed", why: message, hint };
    }
  }

  async #bring(record: SessionRecord, conversation: string | null, item: RestoreItem, actor: Principal): Promise<RestoreItem> {
    const again = `try again: holdfast restore ${record.name}; or start a new conversation: holdfast resume ${record.name} --fresh`;
    try {
      const { prompt } = await this.#sessions.resume(record.id, {
        fresh: false,
        conversation: ofThen(record, conversation),
        why: "restore",
        actor,
      });
      this.#goOn(record, actor);
      const { run } = this.#queries.resolve(record.id);
      const { record: now, state } = await this.#sessions.comingUp.wait(
        { id: record.id, run },
        { ms: SHOWS_MS, signal: this.#ending.signal },
      );
      if (!now) return { ...item, outcome: "failed", why: "it was removed" };
      if (state === "ended") {
        const how = now.exit?.signal ?? (now.exit?.code == null ? now.status : `exit code ${now.exit.code}`);
        const hint = `read its output: holdfast logs ${record.name}; ${again}`;
        return { ...item, outcome: "failed", why: `it was started and ended at once (${how})`, hint };
      }
      const hint = `attach to it: holdfast attach ${record.name}`;
      const asks = now.standing?.attention?.for;
      // The agent has not read its conversation yet.
      if (asks === "login" || asks === "trust")
        return {
          ...item,
          outcome: "started",
          why: `it runs, and waits for ${asks === "login" ? "a login" : "its directory to be trusted"}`,
          hint,
        };
      if (record.kind === "shell" || now.standing !== null) {
        const why = item.why.replace("continues", "continued");
        if (prompt === "withheld") return { ...item, outcome: "back", why, hint: repeatHint(record) };
        if (record.standing?.turn !== "working") return { ...item, outcome: "back", why };
        const goOn = `to let it continue: holdfast send ${record.name} 'continue where you were'`;
        return { ...item, outcome: "back", why: `${why}; it was in the middle of a turn`, hint: goOn };
      }
      const started = prompt === "withheld" ? `it runs, and ${WITHHELD}` : "it is running, but has not shown that it is ready";
      return { ...item, outcome: "started", why: started, hint: prompt === "withheld" ? repeatHint(record) : hint };
    } catch (error) {
      const { message, hint = again } = HoldfastError.from(error);
      return { ...item, outcome: "failed", why: message, hint };
    }
  }

  /** Tells an agent that was interrupted in a turn to continue. */
  #goOn({ id, kind }: SessionRecord, actor: Principal): void {
    if (kind !== "conversation") return;
    const last = this.#journal.readAfter(0, 100_000, { session: id, types: ["turn.ended"] }).at(-1);
    if (last?.data.reason !== "interrupted") return;
    const data = { id: newSessionId(), text: GO_ON, steer: false };
    this.#journal.append({ type: "message.queued", actor, session: id, data });
  }

  /** Records the shutdown before this boot. If a daemon dies before it does so, the next one does. */
  #noteShutdown(): void {
    const boot = bootId();
    if (boot === null) return;
    const before = this.#queries.ended().filter(({ pidStart }) => pidStart !== null && !pidStart.startsWith(`${boot}-`));
    // Ask only if there may be something: it reads all events since the boot.
    const mayBe = before.some((record) => endedByShutdown(record, { boot, lastSeen: Number.NEGATIVE_INFINITY }));
    const last = mayBe ? this.#journal.lastBefore(boot) : undefined;
    if (!last) return;
    const lastSeen = Math.max(Date.parse(last.at), ...before.map(({ endedAt }) => Date.parse(endedAt ?? "") || 0));
    const down = before.filter((record) => endedByShutdown(record, { boot, lastSeen }));
    const due = down.map(({ id, run }): Draft => ({ type: "session.restore_due", actor: DAEMON, session: id, data: { run } }));
    if (due.length > 0) this.#journal.append(...due);
  }

  /** Records lost sessions that are in no generation yet as a new one. */
  #record(): void {
    const generations = readGenerations(this.#db);
    const known = new Set(generations.flatMap(({ sessions }) => sessions.map(({ id, run }) => `${id}-${run}`)));
    const lost = this.#queries.lost().filter(({ id, lostRun }) => !known.has(`${id}-${lostRun}`));
    if (lost.length === 0) return;
    const why = lost.some(({ pidStart }) => bootId() !== null && pidStart !== null && !pidStart.startsWith(`${bootId()}-`))
      ? "reboot"
      : "keeper";
    const sessions = lost.map(({ id, name, lostRun, conversation }) => ({ id, name, run: lostRun ?? 0, conversation }));
    const data = { number: (generations[0]?.number ?? 0) + 1, why, sessions } as const;
    this.#journal.append({ type: "generation.recorded", actor: DAEMON, session: null, data });
    log(`${counted(sessions.length, "session")} lost (${why}); to restore them: holdfast restore`);
  }

  async #follow(from: number): Promise<void> {
    const { signal } = this.#ending;
    for (let seq = from; !signal.aborted; ) {
      await this.#journal.changed(seq, signal);
      const end = this.#journal.cursor.seq;
      const isLost = this.#journal.readAfter(seq, 1000, { types: ["session.ended"] }).some(({ data }) => data.cause === "lost");
      seq = end;
      if (!isLost) continue;
      await new Promise((resolve) => setTimeout(resolve, TOGETHER_MS).unref());
      if (!signal.aborted) this.#record();
    }
  }

  async #restoreByItself(): Promise<void> {
    if (!this.list().due.some(({ outcome }) => outcome === "would")) return;
    const since = new Date(Date.now() - TRIES_WITHIN_MS).toISOString();
    const tries = this.#journal.readAfter(0, 1000, { types: ["restore.started"], since }).filter(({ data }) => data.auto === true);
    if (tries.length >= MOST_TRIES) return log(`restore: tried ${tries.length} times automatically; now run: holdfast restore`);
    const { items } = await this.run({ dryRun: false, actor: DAEMON, auto: true });
    log(`restore: ${items.map(({ name, outcome }) => `${name} ${outcome}`).join(", ")}`);
  }
}

const WITHHELD = "did not get the first prompt again, because an earlier run may have executed it";

function startsAnew({ promptedRun }: SessionRecord): string {
  return promptedRun === null ? "starts a new conversation: the earlier one is not known" : `starts a new conversation, and ${WITHHELD}`;
}

function repeatHint({ name }: SessionRecord): string {
  return `to repeat it: holdfast stop ${name}; holdfast resume ${name} --repeat-prompt; to send another message: holdfast send ${name} TEXT`;
}

/** The conversation at the time of the loss, if a resume would not choose it anyway. */
function ofThen(record: SessionRecord, conversation: string | null): string | undefined {
  return conversation === null || conversation === record.conversation ? undefined : conversation;
}

/** True if an orderly shutdown of the machine killed the session, not a person who wanted it to end. */
export function endedByShutdown(record: SessionRecord, at: { boot: string; lastSeen: number }): boolean {
  const { pidStart, endedAt, exit, cause, lostRun, restartAt, host } = record;
  if (pidStart === null || pidStart.startsWith(`${at.boot}-`) || endedAt === null) return false;
  if (lostRun !== null || restartAt !== null || cause !== "exited" || at.lastSeen - Date.parse(endedAt) > SHUTDOWN_MS) return false;
  // The exit of an adopted agent is unknown; an end together with everything else is no accident.
  if (host === "foreign") return at.lastSeen - Date.parse(endedAt) <= TOGETHER_AT_SHUTDOWN_MS;
  return ["SIGTERM", "SIGHUP", "SIGKILL"].includes(exit?.signal ?? "") || [129, 137, 143].includes(exit?.code ?? -1);
}

function bootId(): string | null {
  return process.platform === "linux" ? boot() : null;
}
