/** What a session is started with. */
import * as z from "zod/mini";
import { BudgetRequest } from "./budget.ts";
import { SessionId } from "./ids.ts";
import { LONGEST_ARGUMENT, LONGEST_COMMAND } from "./limits.ts";
import { PlanOrigin } from "./plan.ts";
import { RestartSchema } from "./session.ts";
import { HOSTS } from "./status.ts";
import { WorktreeRequest } from "./workspace-endpoints.ts";

const text = z.string().check(z.maxLength(10_000, "a name, a role or an objective has at most 10,000 characters"));

/** In bytes: it is given as one argument of a program, of which Linux takes at most 131,071. */
const LONGEST_PROMPT = 120_000;

export function isShortPrompt(text: string): boolean {
  return bytesOf(text) <= LONGEST_PROMPT;
}

/** As many as the system takes. */
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

/** A recording is deleted by the megabyte, and the one that grows stays. */
const LEAST_RECORDING = 2 << 20;

export const FirstPrompt = z.string().check(
  z.refine((text) => text.trim() !== "", "the first prompt is empty"),
  z.refine(isShortPrompt, "a first prompt has at most 120,000 bytes; send a longer one when the agent runs"),
);

export const SpawnRequest = z.object({
  /** The new session's id, chosen by whoever asks: asked again with the same one, because the daemon died before it answered, it is the same session. */
  id: z.optional(SessionId),
  agent: text,
  name: z.optional(text),
  cwd: z.string().check(z.maxLength(4096, "a directory path has at most 4096 characters")),
  /** The caller's whole environment. */
  env: z.record(z.string(), z.string()),
  /** The caller's file mode mask: what the session creates has the permissions the caller would expect. */
  umask: z._default(z.int().check(z.minimum(0), z.maximum(0o777)), 0o022),
  /** The program and its arguments, for an agent that runs what it is given (`shell`); else the profile says. */
  command: z.optional(commandLine.check(z.minLength(1))),
  /** A role by its name, as `listPersonas` has it for `cwd`: it says the agent (where that is empty), the model and the instructions. */
  persona: z.optional(text),
  /** What its agent is told to be, with the first words to it. */
  instructions: z.optional(z.string().check(z.maxLength(300_000, "instructions have at most 300,000 characters"))),
  /** Added to the profile's command. */
  args: z._default(commandLine, []),
  /** The agent's first prompt. */
  prompt: z.optional(FirstPrompt),
  /** As a conversation: the agent is talked to in a protocol, and has no terminal. */
  chat: z._default(z.boolean(), false),
  /** Of a conversation, where its agent offers a choice. */
  mode: z.optional(text),
  model: z.optional(text),
  /** A person is there and talks to it. Without it, `[agents.background]` of config.toml holds. */
  attended: z.optional(z.boolean()),
  /** Of a conversation with a model of ours: names of the tools that it may use, of those that it has. Other agents are not held to it. */
  tools: z.optional(z.array(text).check(z.maxLength(1000, "a session has at most 1,000 tool names"))),
  /** False: what it is told first says nothing of the Working Context where it works, and a new worktree gets none. */
  context: z._default(z.boolean(), true),
  /** It is in them from the beginning; one that is not there yet is made. */
  groups: z.optional(z.array(text).check(z.maxLength(1000, "a session starts in at most 1,000 groups"))),
  /**
   * Of one that a session starts: each answer of it, and how it ends, is a message to that session. Left out: of an agent it is, of a shell it is
   * not.
   */
  report: z.optional(z.boolean()),
  role: z.optional(text),
  objective: z.optional(text),
  /** A worktree of its own, made for it from the repository that `cwd` is in. */
  worktree: z.optional(WorktreeRequest),
  /** The workspace to work in, in place of `cwd`. */
  workspace: z.optional(text),
  /** The file that says so, and how. */
  plan: z.optional(PlanOrigin),
  host: z.optional(z.enum(HOSTS)),
  /** False: the session is recorded and its files are written; `resumeSession` starts its first run. */
  start: z._default(z.boolean(), true),
  restart: z._default(RestartSchema, "never"),
  memoryLimitBytes: z.optional(z.int().check(z.minimum(1 << 20, "a memory limit is at least 1 MB"))),
  /** In all its runs together. What is left out is as configured, null is without limit. */
  budget: z.optional(BudgetRequest),
  /** Of each run's recording; 0 keeps everything. Left out: as configured. */
  recordingLimitBytes: z.optional(
    z.int().check(z.refine((bytes) => bytes === 0 || bytes >= LEAST_RECORDING, "a recording limit is at least 2 MB, or 0 for none")),
  ),
});
export type SpawnRequest = z.infer<typeof SpawnRequest>;

/** As it is asked for: who has neither a directory nor an environment to give, as an agent by its tools, gets those of its own session; others the user's. */
export const SpawnBody = z.extend(SpawnRequest, { cwd: z.optional(SpawnRequest.shape.cwd), env: z.optional(SpawnRequest.shape.env) });
export type SpawnBody = z.infer<typeof SpawnBody>;

/**
 * What a session may not say of one that it starts, in whatever way. A plan is its user's file, and only a person attends. Instructions would reach the
 * agent as Holdfast's own words.
 */
export const CLOSED_TO_SESSIONS = ["plan", "attended", "instructions"] as const satisfies readonly (keyof SpawnRequest)[];
