/**
 * Configuration of Holdfast's own two agents for the Agent Client Protocol: `exec-agent` (one command per turn) and `model-agent` (a model and
 * tools). The daemon writes it to the run's directory. It contains no secrets, only the names of variables that hold them.
 *
 * Both agents read earlier turns from the transcripts of the session's earlier runs; TRANSCRIPTS names the directory.
 */
import * as z from "zod/mini";
import { TokenUse } from "../conversation/transcript.ts";

export const TRANSCRIPTS = "HOLDFAST_TRANSCRIPTS";

/**
 * File in a run's directory with the agent's MCP servers, for agents that read them from a file. It contains the run's token and is deleted with the
 * run.
 */
export const MCP_FILE = "mcp";

/** Placeholder for that file in a command. */
export const SERVERS_WORD = "{mcp}";

/**
 * A request or notification `{sessionId, text}` that steers the running turn. Agents that support it set it to true in `_meta` of their capabilities.
 */
export const STEER = "_holdfast/steer";

/**
 * The reason for a denied permission request, in `_meta` of the outcome. Agents that pass it to their model set it to true in `_meta` of their
 * capabilities.
 */
export const REASON = "_holdfast/reason";

/** The subject of a notice, in its `_meta`, as in a note of the transcript. */
export const ABOUT = "holdfast/about";

/** Token usage: of the whole turn in `_meta` of the reply to a prompt, or so far in `_meta` of an empty text chunk. */
export const PromptMeta = z.object({ usage: TokenUse });

const natural = z.int().check(z.nonnegative());
const positive = z.int().check(z.positive());
const words = z.array(z.string()).check(z.minLength(1));

/** The part of the conversation for an agent without memory: its first and last turns, within a number of tokens; null means no limit. */
export const ContextRule = z.object({
  first: z._default(natural, 2),
  last: z._default(natural, 10),
  tokens: z._default(z.nullable(positive), null),
});
export type ContextRule = z.infer<typeof ContextRule>;

/** Default for agents without memory. It fits into the context of current models. */
export const USUAL_CONTEXT: ContextRule = { first: 2, last: 10, tokens: 100_000 };

/** `argument` replaces `{prompt}`, or is appended as the last word. */
export const PROMPT_WAYS = ["stdin", "argument"] as const;
export const ANSWER_FORMS = ["plain", "stream-json"] as const;

export const ExecOrder = z.object({
  command: words,
  prompt: z.enum(PROMPT_WAYS),
  answer: z.enum(ANSWER_FORMS),
  context: z.extend(ContextRule, {
    /** Arguments for a command with its own memory, to begin a conversation and to continue it; `{id}` stands for its id. */
    remembers: z.optional(z.object({ begin: z.array(z.string()), resume: words })),
  }),
  system: z.nullable(z.string()),
  /** The model that the command uses; its price determines the cost. */
  model: z._default(z.nullable(z.string()), null),
});
export type ExecOrder = z.infer<typeof ExecOrder>;

export const MODEL_APIS = ["openai", "anthropic"] as const;
export type ModelApi = (typeof MODEL_APIS)[number];

/** Actions of the built-in agent that need no approval: only reading, also edits, or everything. */
export const MODEL_MODES = ["ask", "auto-edit", "auto"] as const;
export type ModelMode = (typeof MODEL_MODES)[number];

/** A null field comes from the variables that programs for that API read, or from the API's defaults. */
export const ModelOrder = z.object({
  api: z.nullable(z.enum(MODEL_APIS)),
  endpoint: z.nullable(z.string()),
  model: z.nullable(z.string()),
  /** Variable that holds the API key. */
  keyEnv: z.nullable(z.string()),
  /** Header that carries the key, for a gateway with a header of its own. */
  keyHeader: z._default(z.nullable(z.string()), null),
  /** Names of the agent's tools, as tool-names.ts reads them; null: all. */
  tools: z.nullable(z.array(z.string())),
  /** Tools of the agent's role; the agent has those that are in both lists. */
  roleTools: z._default(z.nullable(z.array(z.string())), null),
  /** Names that the role excludes. */
  roleDenied: z._default(z.array(z.string()), []),
  /** Maximum number of requests to the model in one turn. */
  maxSteps: z._default(positive, 50),
  mode: z._default(z.enum(MODEL_MODES), "ask"),
  context: ContextRule,
  system: z.nullable(z.string()),
});
export type ModelOrder = z.infer<typeof ModelOrder>;
