/**
 * Settings of config.toml for agents that start without a person attached (`spawn`, `run`, tools of agents, `query()`, task files):
 *
 *   [agents.background]
 *   model = "claude-haiku-4-5"
 *   approval = "deny"
 *
 *   [agents.claude.background]
 *   approval = "ask"
 *
 * An agent's own table wins over the common one. Options of the start win over both.
 */
import type { KnownKeys } from "@holdfast/contract";
import type { OwnAgent } from "./own-agent.ts";
import { TableReader } from "./table-reader.ts";

/** Answers to a permission request that no rule answers. `ask`: the request waits in the inbox. */
const POLICIES = ["ask", "allow", "deny"] as const;

export interface Background {
  model?: string;
  approval?: (typeof POLICIES)[number];
}

/** The flags of a profile that choose the model and the permission mode. */
interface Flags {
  modelFlag?: string;
  modeFlag?: string;
}

export const BACKGROUND = "background";
export const BACKGROUND_KEYS = {
  model: {
    about: "The model for sessions that start without a person attached (spawn, run, task files, agents that start agents).",
    takes: "the name of a model",
    usual: null,
    example: 'model = "claude-haiku-4-5"',
  },
  approval: {
    about: "The answer to a permission request of such a session when no rule answers it. With `ask` the request waits for you.",
    takes: '"ask", "allow" or "deny"',
    usual: '"ask"',
    example: 'approval = "deny"',
  },
} as const satisfies KnownKeys;

/** Reads `[agents.background]`; `table` is `[agents]`. */
export function readCommonBackground(table: unknown, file: string): Background {
  const common = typeof table === "object" && table !== null ? (table as Record<string, unknown>)[BACKGROUND] : undefined;
  return common === undefined ? {} : readBackground(new TableReader(file, "agents").under(BACKGROUND), common);
}

export function readBackground(read: TableReader, value: unknown): Background {
  const table = read.table(value);
  const model = read.text(table.model, "model");
  const approval = read.oneOf(table.approval, "approval", POLICIES);
  return { ...(model === undefined ? {} : { model }), ...(approval === undefined ? {} : { approval }) };
}

/** The settings for this agent. The common model does not override one that the agent's own table names. */
export function backgroundOf(profile: { ours?: OwnAgent; background?: Background }, common: Background): Background {
  const own = profile.ours && ("model" in profile.ours ? profile.ours.model.model : profile.ours.exec.model);
  const { model, ...rest } = common;
  return { ...rest, ...(model === undefined || own ? {} : { model }), ...profile.background };
}

/** Arguments that select the model in a terminal; none if the user chose one, or the program takes none. */
export function modelWords(profile: Flags, { model, args }: { model: string | undefined; args: readonly string[] }): string[] {
  if (model === undefined || !profile.modelFlag) return [];
  const isChosen = args.some((word) => word === "-m" || word === "--model" || word.startsWith("--model="));
  return isChosen ? [] : [profile.modelFlag, model];
}

/** Arguments for the model and the permission mode of a role. */
export function choiceWords(
  profile: Flags | undefined,
  { args, model, mode }: { args: readonly string[]; model?: string; mode?: string },
): string[] {
  return profile ? [...modelWords(profile, { model, args }), ...modeWords(profile, { mode, args })] : [];
}

function modeWords({ modeFlag }: Flags, { mode, args }: { mode: string | undefined; args: readonly string[] }): string[] {
  if (mode === undefined || !modeFlag) return [];
  const isChosen = args.some((word) => word === modeFlag || word.startsWith(`${modeFlag}=`) || /^--dangerously-/.test(word));
  return isChosen ? [] : [modeFlag, mode];
}
