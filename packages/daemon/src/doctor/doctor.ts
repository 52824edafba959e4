/**
 * Looks for what is wrong, or will be: each finding says what and how to get out of it. Only what cannot lose anything is mended by
 * itself, and only when asked.
 */
import type { Finding, Listening } from "@holdfast/contract";
import type { Home } from "@holdfast/platform";
import type { Backups } from "../journal/backups.ts";
import type { Orphans } from "../session/orphans.ts";
import { address } from "./address.ts";
import { backupState, setAside } from "./backups.ts";
import { disk, homePermissions, keeperFiles, watches } from "./files.ts";
import { loginEnd } from "./login.ts";
import { programs, type TmuxFacts } from "./programs.ts";

/** `fix` is there when the finding can be mended safely. */
export type Check = Omit<Finding, "fixed"> & { fix?: () => void };

export class Doctor {
  readonly #home: Home;
  readonly #orphans: Orphans;
  readonly #backups: Backups;
  readonly #tmux: TmuxFacts;
  readonly #listening: () => Listening | null;

  constructor(options: { home: Home; orphans: Orphans; backups: Backups; tmux: TmuxFacts; listening(): Listening | null }) {
    this.#home = options.home;
    this.#orphans = options.orphans;
    this.#backups = options.backups;
    this.#tmux = options.tmux;
    this.#listening = options.listening;
  }

  async examine(options: { fix: boolean }): Promise<Finding[]> {
    const checks = [
      ...programs(this.#tmux),
      homePermissions(this.#home),
      address(this.#listening()),
      disk(this.#home),
      watches(),
      await loginEnd(),
      keeperFiles(this.#home),
      backupState(this.#backups),
      setAside(this.#home),
      await this.#orphaned(),
      ESCAPES,
    ];
    return checks.map(({ fix, ...finding }) => {
      const mend = options.fix && finding.level !== "ok" ? fix : undefined;
      mend?.();
      return { ...finding, fixed: mend !== undefined };
    });
  }

  async #orphaned(): Promise<Check> {
    const orphans = await this.#orphans.list();
    if (orphans.length === 0) return { id: "orphans", level: "ok", what: "nothing runs without a record", remedy: null };
    const list = orphans.map(({ id, command }) => `${id} (${command.slice(0, 60)})`).join(", ");
    return {
      id: "orphans",
      level: "warning",
      what: `${orphans.length} run without a record: ${list}`,
      remedy: "holdfast orphans ls; then adopt or stop each",
    };
  }
}

const ESCAPES: Check = {
  id: "escapes",
  level: "note",
  what: "stop cannot find a process that left its session's process session and terminal, was adopted by init, and scrubbed HOLDFAST_RUN from its environment",
  remedy: "none needed for ordinary programs; a daemon that does this on purpose has to be stopped by its own command",
};
