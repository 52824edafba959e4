/**
 * Limits the memory of a session. If the run has its own cgroup, the kernel enforces the limit (run-files.ts puts the run into one). Otherwise the
 * daemon looks at all processes once a second, and only while a session with a limit runs. A run above its limit is ended; the event comes first, so
 * that the cause of the end is known.
 */
import { type HostName, hasEnded, type Session, type SessionId } from "@holdfast/contract";
import { describe, log, scopeOf } from "@holdfast/platform";
import { DAEMON } from "../../access/principal.ts";
import { endProcesses } from "../../host/ending.ts";
import { type Host, runMarker, scopeUnit } from "../../host/host.ts";
import type { Journal } from "../../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";
import { usageOf } from "./usage.ts";

const LOOK_MS = 1000;

export function limitedBy(record: SessionRecord): Session["memoryLimitBy"] {
  if (record.memoryLimitBytes === null || hasEnded(record.status)) return null;
  const unit = scopeUnit({ session: record.id, run: record.run });
  return record.pid !== null && scopeOf(record.pid) === unit ? "cgroup" : "watching";
}

export class Limits implements Disposable {
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #hosts: ReadonlyMap<HostName, Host>;
  readonly #ending = new Set<SessionId>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: { journal: Journal; queries: SessionQueries; hosts: ReadonlyMap<HostName, Host> }) {
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#hosts = options.hosts;
  }

  /** Starts watching if a running session has a limit; call it after each start. */
  begin(): void {
    this.#timer ??= this.#watched().length > 0 ? setInterval(() => this.#look(), LOOK_MS).unref() : undefined;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #watched(): SessionRecord[] {
    return this.#queries.limited().filter((record) => limitedBy(record) === "watching");
  }

  #look(): void {
    const limited = this.#watched();
    if (limited.length === 0) this[Symbol.dispose]();
    const keepers = [...this.#hosts.values()].flatMap((host) => host.keeperPids());
    const usage = usageOf(limited, keepers);
    for (const record of limited) {
      const used = usage.get(record.id)?.memoryBytes ?? 0;
      if (used <= (record.memoryLimitBytes ?? 0) || this.#ending.has(record.id)) continue;
      this.#ending.add(record.id);
      this.#end(record, { used, keepers })
        .catch((error: unknown) => log(`session ${record.id}: ${describe(error)}`))
        .finally(() => this.#ending.delete(record.id));
    }
  }

  async #end(record: SessionRecord, { used, keepers }: { used: number; keepers: number[] }): Promise<void> {
    const data = { run: record.run, limit: "memory" as const, used, allowed: record.memoryLimitBytes ?? 0 };
    this.#journal.note({ type: "session.limit_exceeded", actor: DAEMON, session: record.id, data });
    const root = { pid: record.pid ?? 0, start: record.pidStart ?? "" };
    await endProcesses({ root, marker: runMarker({ session: record.id, run: record.run }), keepers, graceMs: 0 });
  }
}
