/** Waits on the journal until a started run shows something, has ended, or its time is over. */
import { hasEnded, type RunState, type SessionId } from "@holdfast/contract";
import { isObserved } from "../../agent/profile.ts";
import type { Profiles } from "../../agent/profiles/index.ts";
import type { Journal } from "../../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../../projection/session-queries.ts";
import { isInteractiveShell } from "./interactive-shell.ts";

/** A program that cannot start has ended by then. For an agent that shows nothing, and for a command, there is nothing else to wait for. */
const DARK_MS = 2000;

export class ComingUp {
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #profiles: Profiles;

  constructor(options: { journal: Journal; queries: SessionQueries; profiles: Profiles }) {
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#profiles = options.profiles;
  }

  /** `record` is undefined if the session was removed meanwhile. */
  async wait(
    started: Pick<SessionRecord, "id" | "run">,
    { ms, signal: gone }: { ms: number; signal?: AbortSignal | undefined },
  ): Promise<{ state: RunState; record: SessionRecord | undefined }> {
    const shows = this.#shows(started.id);
    const timeout = AbortSignal.timeout(shows ? ms : Math.min(ms, DARK_MS));
    const signal = gone ? AbortSignal.any([timeout, gone]) : timeout;
    for (;;) {
      const { seq } = this.#journal.cursor;
      const record = this.#queries.get(started.id);
      if (!record || record.run !== started.run || hasEnded(record.status)) return { state: "ended", record };
      if (record.kind === "shell" && isInteractiveShell(record.command)) return { state: "running", record };
      if (record.standing !== null) return { state: "ready", record };
      if (signal.aborted) return { state: record.kind !== "shell" && (shows || ms < DARK_MS) ? "starting" : "running", record };
      await this.#journal.changed(seq, signal);
    }
  }

  /** True if the session's agent reports what it does. */
  #shows(session: SessionId): boolean {
    const record = this.#queries.get(session);
    const profile = record && this.#profiles.find(record.agent);
    return record?.kind === "conversation" || (profile !== undefined && isObserved(profile));
  }
}
