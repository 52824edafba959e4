/** The request that starts a session. */
import * as z from "zod/mini";
import { SessionId } from "../ids.ts";
import { LONGEST_ARGUMENT, LONGEST_COMMAND } from "../limits.ts";
import { PlanOrigin } from "../plan/plan.ts";
import { BudgetRequest } from "../usage/budget.ts";
import { WorktreeRequest } from "../workspace/endpoints.ts";
import { RequestedSpec } from "./spec.ts";
import { HOSTS } from "./status.ts";

const text = z.string().check(z.maxLength(10_000, "a name, a role or an objective has at most 10,000 characters"));

/** Longest prompt in bytes: it is passed as one argument, which Linux limits to 131,071 bytes. */
const LONGEST_PROMPT = 120_000;

export function isShortPrompt(text: string): boolean {
  return bytesOf(text) <= LONGEST_PROMPT;
}

/** A command line within the limits of the system. */
const commandLine = z
  .array(
    z
      .string()
      .check(z.refine((word) => bytesOf(word) <= LONGEST_ARGUMENT, "an argument has at most 131,071 bytes; put a longer one into a file")),
  )
  .check(
    z.refine(
      (words) => words.reduce((sum, word) => sum + bytesOf(word) + 1, 0) <= LONGEST_COMMAND,
      "a command has at most 2,000,000 bytes with its arguments; put them into a file",
    ),
  );

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

const toolNames = z.array(text).check(z.maxLength(1000, "a session has at most 1,000 tool names"));

export const FirstPrompt = z.string().check(
  z.refine((text) => text.trim() !== "", "the first prompt is empty"),
  z.refine(isShortPrompt, "a first prompt has at most 120,000 bytes; send a longer one when the agent runs"),
);

export const SpawnRequest = z.object({
  /**
   * The new session's id, chosen by the caller. Repeating the request with the same id, after the daemon died before it replied, returns the same
   * session.
   */
  id: z.optional(SessionId),
  agent: text,
  name: z.optional(text),
  cwd: z.string().check(z.maxLength(4096, "a directory path has at most 4096 characters")),
  /** The caller's whole environment. */
  env: z.record(z.string(), z.string()),
  /** The caller's file mode mask, so that files of the session get the usual permissions. */
  umask: z._default(z.int().check(z.minimum(0), z.maximum(0o777)), 0o022),
  /** Program and arguments, for an agent that runs any command (`shell`); otherwise the profile has the command. */
  command: z.optional(commandLine.check(z.minLength(1))),
  /** Name of a persona, as `listPersonas` shows it for `cwd`. It sets the agent (if that is empty), the model and the instructions. */
  persona: z.optional(text),
  /** Instructions for the agent, sent with its first prompt. */
  instructions: z.optional(z.string().check(z.maxLength(300_000, "instructions have at most 300,000 characters"))),
  /** Arguments to add to the profile's command. */
  args: z._default(commandLine, []),
  /** The agent's first prompt. */
  prompt: z.optional(FirstPrompt),
  /** Start a conversation: the agent uses a protocol and has no terminal. */
  chat: z._default(z.boolean(), false),
  /** Mode and model of a conversation, if the agent offers a choice. */
  mode: z.optional(text),
  model: z.optional(text),
  /** A person is present and talks to the agent. Otherwise `[agents.background]` of config.toml applies. */
  attended: z.optional(z.boolean()),
  /** Tools that the agent may use, and may not use, by name. `notes` of the reply report an agent that does not enforce them. */
  tools: z.optional(toolNames),
  disallowedTools: z.optional(toolNames),
  /** False: the first prompt does not mention the Working Context, and a new worktree gets none. */
  context: z._default(z.boolean(), true),
  /** Groups that the session joins at its start; missing ones are created. */
  groups: z.optional(z.array(text).check(z.maxLength(1000, "a session starts in at most 1,000 groups"))),
  /**
   * For a session started by another session: report each answer and the end to that session as a message. By default true for agents and false for
   * shells.
   */
  report: z.optional(z.boolean()),
  /** Create a new worktree of the repository that contains `cwd`. */
  worktree: z.optional(WorktreeRequest),
  /** Workspace to work in, instead of `cwd`. */
  workspace: z.optional(text),
  /** The plan file that declares the session. */
  plan: z.optional(PlanOrigin),
  host: z.optional(z.enum(HOSTS)),
  /** False: only record the session and write its files; `resumeSession` starts its first run. */
  start: z._default(z.boolean(), true),
  /** Budget over all runs. Omitted limits are as configured; null means no limit. */
  budget: z.optional(BudgetRequest),
  ...RequestedSpec.shape,
});
export type SpawnRequest = z.infer<typeof SpawnRequest>;

/** The request as callers send it. Without `cwd` or `env`, as from an agent's tool, a session's own are used, else the user's. */
export const SpawnBody = z.extend(SpawnRequest, { cwd: z.optional(SpawnRequest.shape.cwd), env: z.optional(SpawnRequest.shape.env) });
export type SpawnBody = z.infer<typeof SpawnBody>;

/**
 * Fields that a session may not set for sessions it starts. A plan is the user's file, and only a person attends. Instructions would reach the agent
 * as Holdfast's own text.
 */
export const CLOSED_TO_SESSIONS = ["plan", "attended", "instructions"] as const satisfies readonly (keyof SpawnRequest)[];
