/**
 * What our own two agents that speak the Agent Client Protocol are told: `exec-agent` (a command for each turn) and `model-agent` (a model and tools). The
 * daemon writes it into the run's directory; it has no secrets in it, only the names of variables that have them.
 *
 * What they were told before they read in the transcripts of the session's earlier runs: TRANSCRIPTS names the directory with them.
 */
import * as z from "zod/mini";
import { TokenUse } from "./transcript.ts";

export const TRANSCRIPTS = "HOLDFAST_TRANSCRIPTS";

/** In a run's directory: the MCP servers that its agent is given, where it takes them from a file. It has the run's token in it, and goes with the run. */
export const MCP_FILE = "mcp";

/** Among the words of a command for each turn: that file. */
export const SERVERS_WORD = "{mcp}";

/** Words for a turn that runs: a request or a notification `{sessionId, text}`. An agent that takes it has it in `_meta` of its capabilities, as true. */
export const STEER = "_holdfast/steer";

/**
 * Why a permission request was denied: in `_meta` of the outcome. An agent that passes it on to its model has it in `_meta` of its capabilities, as true.
 */
export const REASON = "_holdfast/reason";

/** In `_meta` of a notice: what it is about, as a transcript's note has it. */
export const ABOUT = "holdfast/about";

/** `_meta` of the answer to a prompt: what the turn took. `_meta` of an empty piece of text: what it took up to now. */
export const PromptMeta = z.object({ usage: TokenUse });

const natural = z.int().check(z.nonnegative());
const positive = z.int().check(z.positive());
const words = z.array(z.string()).check(z.minLength(1));

/** How much of the conversation is given to one that does not remember it: its first and its last turns, within so many tokens; null: no limit. */
export const ContextRule = z.object({
  first: z._default(natural, 2),
  last: z._default(natural, 10),
  tokens: z._default(z.nullable(positive), null),
});
export type ContextRule = z.infer<typeof ContextRule>;

/** How much an agent that remembers nothing is given where nobody says otherwise: less than the models of today take. */
export const USUAL_CONTEXT: ContextRule = { first: 2, last: 10, tokens: 100_000 };

/** `argument`: in place of `{prompt}`, or behind the last word. */
export const PROMPT_WAYS = ["stdin", "argument"] as const;
export const ANSWER_FORMS = ["plain", "stream-json"] as const;

export const ExecOrder = z.object({
  command: words,
  prompt: z.enum(PROMPT_WAYS),
  answer: z.enum(ANSWER_FORMS),
  context: z.extend(ContextRule, {
    /** Words for a command that remembers by itself, by the id put in place of `{id}`: to begin a conversation, and to go on with it. */
    remembers: z.optional(z.object({ begin: z.array(z.string()), resume: words })),
  }),
  system: z.nullable(z.string()),
  /** The model that the command asks, by whose price its tokens are counted. */
  model: z._default(z.nullable(z.string()), null),
});
export type ExecOrder = z.infer<typeof ExecOrder>;

export const MODEL_APIS = ["openai", "anthropic"] as const;
export type ModelApi = (typeof MODEL_APIS)[number];

/** What the built-in agent does without asking: nothing but reading; edits too; everything. */
export const MODEL_MODES = ["ask", "auto-edit", "auto"] as const;
export type ModelMode = (typeof MODEL_MODES)[number];

/** What is null is taken from the variables that programs for that API read, or as they have it. */
export const ModelOrder = z.object({
  api: z.nullable(z.enum(MODEL_APIS)),
  endpoint: z.nullable(z.string()),
  model: z.nullable(z.string()),
  /** The variable with the key. */
  keyEnv: z.nullable(z.string()),
  /** The header that carries it, for a gateway with one of its own. */
  keyHeader: z._default(z.nullable(z.string()), null),
  /** Names of the tools it has, as tool-names.ts reads them; null: all. */
  tools: z.nullable(z.array(z.string())),
  /** And of those the ones that its role has. */
  roleTools: z._default(z.nullable(z.array(z.string())), null),
  /** How often the model is asked in one turn. */
  maxSteps: z._default(positive, 50),
  mode: z._default(z.enum(MODEL_MODES), "ask"),
  context: ContextRule,
  system: z.nullable(z.string()),
});
export type ModelOrder = z.infer<typeof ModelOrder>;
