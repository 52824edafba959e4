/**
 * Finds current and coming problems: each finding describes one and its remedy. Only repairs that cannot lose data are automatic,
 * and only on request.
 */
import { type Finding, type HoldfastError, type Listening, unwritable } from "@holdfast/contract";
import type { Home } from "@holdfast/platform";
import type { Backups } from "../journal/backups.ts";
import type { Orphans } from "../session/restore/orphans.ts";
import { address } from "./address.ts";
import { type AgentState, agentStates, agentVersions } from "./agents.ts";
import { backupState, setAside } from "./backups.ts";
import type { Check } from "./check.ts";
import { type ConfigurationLook, configuration, daemonTrouble } from "./configuration.ts";
import { disk, homePermissions, keeperFiles, watches } from "./files.ts";
import { loginEnd } from "./login.ts";
import { programs, type TmuxFacts } from "./programs.ts";
import { type Projects, projectsGone } from "./projects.ts";
import { type DamagedTranscript, transcripts } from "./transcripts.ts";

export type { ConfigurationLook } from "./configuration.ts";

interface Running {
  orphans: Orphans;
  listening(): Listening | null;
  damagedTranscripts(): readonly DamagedTranscript[];
  projects(): Projects;
  /** The agents on the caller's PATH. */
  agents(place: { path?: string | undefined; home?: string | undefined }): Promise<{ agents: AgentState[] }>;
}

export class Doctor {
  readonly #home: Home;
  readonly #backups: Backups;
  readonly #tmux: TmuxFacts;
  readonly #configured: () => ConfigurationLook;
  readonly #running: Running | undefined;
  readonly #trouble: HoldfastError | undefined;

  /** `running`: facts that only a daemon knows; without a daemon, `trouble` is the reason. */
  constructor(options: {
    home: Home;
    backups: Backups;
    tmux: TmuxFacts;
    configured(): ConfigurationLook;
    running?: Running;
    trouble?: HoldfastError;
  }) {
    this.#home = options.home;
    this.#backups = options.backups;
    this.#tmux = options.tmux;
    this.#configured = options.configured;
    this.#running = options.running;
    this.#trouble = options.trouble;
  }

  async examine(options: { fix: boolean; path?: string | undefined; home?: string | undefined }): Promise<Finding[]> {
    const agents = (await this.#running?.agents(options))?.agents ?? [];
    const checks = [
      ...(this.#trouble ? [daemonTrouble(this.#trouble)] : []),
      ...programs(this.#tmux),
      ...configuration(this.#configured()),
      homePermissions(this.#home),
      ...(this.#running ? [address(this.#running.listening())] : []),
      disk(this.#home),
      watches(),
      await loginEnd(),
      keeperFiles(this.#home),
      backupState(this.#backups),
      setAside(this.#home),
      ...(this.#running
        ? [
            ...agentStates(agents, options.home ?? process.env.HOME ?? "/"),
            agentVersions(agents),
            transcripts(this.#running.damagedTranscripts()),
            projectsGone(this.#running.projects()),
            await orphaned(this.#running.orphans),
          ]
        : []),
      ESCAPES,
    ];
    return checks.map(({ fix, ...finding }) => ({ ...finding, fixed: options.fix && finding.level !== "ok" && mended(fix) }));
  }
}

/** If a file cannot be written, the finding stays. */
function mended(fix: (() => void) | undefined): boolean {
  try {
    fix?.();
    return fix !== undefined;
  } catch (error) {
    if (unwritable(error)) return false;
    throw error;
  }
}

async function orphaned(list: Orphans): Promise<Check> {
  const orphans = await list.list();
  if (orphans.length === 0) return { id: "orphans", level: "ok", what: "no process runs without a record", remedy: null };
  const named = orphans.map(({ id, command }) => `${id} (${command.slice(0, 60)})`).join(", ");
  return {
    id: "orphans",
    level: "warning",
    what: `${orphans.length} processes run without a record: ${named}`,
    remedy: "list them: holdfast orphans ls; then adopt or stop each",
  };
}

const ESCAPES: Check = {
  id: "escapes",
  level: "note",
  what: "stop cannot find a process that left its session and terminal, was reparented to init, and removed HOLDFAST_RUN from its environment",
  remedy: "ordinary programs need nothing; stop a program that does this on purpose with its own command",
};
