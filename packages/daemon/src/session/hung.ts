/**
 * Finds agents that work and of which nothing moves: no output, no word of a hook, no processor time, for longer than they may. One timer
 * for all; processes are looked at only for those that have been quiet for half of that time.
 */
import type { HostName, SessionId } from "@holdfast/contract";
import type { Host } from "../host/host.ts";
import type { AgentStatus } from "./agent-status.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { usageOf } from "./usage.ts";

/** Of one core. A program that only keeps its timers takes less. */
const STILL = 0.01;
const MOST_OFTEN_MS = 200;
const LEAST_OFTEN_MS = 30_000;

export class HungWatch implements Disposable {
  readonly #status: AgentStatus;
  readonly #lifecycle: Lifecycle;
  readonly #hosts: ReadonlyMap<HostName, Host>;
  readonly #afterMs: number;
  /** Processor time of those that have been quiet for half the time, when that was first seen. */
  readonly #quiet = new Map<SessionId, { at: number; cpuMs: number }>();
  #timer: NodeJS.Timeout | undefined;

  /** `afterMs` 0: never. */
  constructor(options: { status: AgentStatus; lifecycle: Lifecycle; hosts: ReadonlyMap<HostName, Host>; afterMs: number }) {
    this.#status = options.status;
    this.#lifecycle = options.lifecycle;
    this.#hosts = options.hosts;
    this.#afterMs = options.afterMs;
  }

  begin(): void {
    if (this.#afterMs === 0) return;
    const every = Math.min(LEAST_OFTEN_MS, Math.max(MOST_OFTEN_MS, this.#afterMs / 10));
    this.#timer = setInterval(() => this.#check(), every).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const quiet = this.#status.working().flatMap(({ record, heardMs, hung }) => {
      const idleMs = this.#lifecycle.watchOf({ session: record.id, run: record.run })?.idleMs();
      const quietMs = Math.min(heardMs, idleMs ?? 0);
      return hung || quietMs < this.#afterMs / 2 ? [] : [{ record, quietMs }];
    });
    const still = new Set(quiet.map(({ record }) => record.id));
    for (const id of this.#quiet.keys()) if (!still.has(id)) this.#quiet.delete(id);
    if (quiet.length === 0) return;
    const keepers = [...this.#hosts.values()].flatMap((host) => host.keeperPids());
    const usage = usageOf(
      quiet.map(({ record }) => record),
      keepers,
    );
    const now = performance.now();
    for (const { record, quietMs } of quiet) {
      const cpuMs = usage.get(record.id)?.cpuMs ?? 0;
      const before = this.#quiet.get(record.id);
      // It computes: its time begins anew.
      if (!before || cpuMs - before.cpuMs > STILL * (now - before.at) + CPU_GRAIN_MS) this.#quiet.set(record.id, { at: now, cpuMs });
      else if (quietMs >= this.#afterMs && now - before.at >= this.#afterMs / 2)
        this.#status.markHung({ session: record.id, run: record.run });
    }
  }
}

/** The kernel counts processor time in steps of this. */
const CPU_GRAIN_MS = 20;
