/**
 * The structured record of a conversation: `transcript.jsonl` of each run, with one entry per line. Only the run's keeper writes it, and only
 * appends. An agent's text arrives in chunks, each an entry: consecutive entries of one type and `turn` form one text.
 *
 * Fields are only ever added; a breaking change gets a new `v`. Readers ignore unknown types.
 */
import * as z from "zod/mini";
import { Principal } from "../ids.ts";
import { Time } from "../session/session.ts";
import { TOOL_KINDS, TURN_ENDS } from "./enums.ts";

export const TRANSCRIPT_VERSION = 1;

/** `n` counts the entries of the run from 1. `turn`: id of the message that began it; null between turns. */
const common = { v: z.int().check(z.positive()), n: z.int().check(z.positive()), at: Time, turn: z.nullable(z.string()) };

const count = z.nullable(z.int().check(z.nonnegative()));

/**
 * Tokens; null if the agent does not report them. `cost` in US dollars, as reported by the agent. `context`: use of the context window. `estimated`:
 * the tokens are estimated from the length of texts, because the agent does not report them.
 */
export const TokenUse = z.object({
  model: z.nullable(z.string()),
  input: count,
  output: count,
  cacheRead: count,
  cacheWrite: count,
  cost: z.nullable(z.number().check(z.nonnegative())),
  context: z.nullable(z.object({ used: z.int().check(z.nonnegative()), size: count })),
  estimated: z.optional(z.boolean()),
});
export type TokenUse = z.infer<typeof TokenUse>;

/** A possible answer to a permission request. */
export const AskOption = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(["allow_once", "allow_always", "reject_once", "reject_always"]),
});
export type AskOption = z.infer<typeof AskOption>;

/** A change to a file, as reported by the tool that makes it. */
export const FileChange = z.object({ path: z.string(), old: z.nullable(z.string()), new: z.string() });
export type FileChange = z.infer<typeof FileChange>;

export const Entry = z.discriminatedUnion("type", [
  /** A prompt. It begins a turn or, with `steer`, is sent into the running one. `addition` follows the text of `from`. */
  z.object({
    ...common,
    type: z.literal("user"),
    message: z.string(),
    from: Principal,
    text: z.string(),
    addition: z.nullable(z.string()),
    steer: z.boolean(),
  }),
  z.object({ ...common, type: z.literal("text"), text: z.string() }),
  z.object({ ...common, type: z.literal("thought"), text: z.string() }),
  /** `call` is the agent's id of the tool call. */
  z.object({
    ...common,
    type: z.literal("tool_started"),
    call: z.string(),
    /** The agent's own name of the tool, if it reports one. */
    name: z.optional(z.string()),
    title: z.string(),
    kind: z.enum(TOOL_KINDS),
    input: z.unknown(),
    files: z.array(z.string()),
  }),
  /** Further output of the tool, or a better title. */
  z.object({
    ...common,
    type: z.literal("tool_output"),
    call: z.string(),
    title: z.nullable(z.string()),
    text: z.nullable(z.string()),
    changes: z.array(FileChange),
  }),
  z.object({ ...common, type: z.literal("tool_completed"), call: z.string(), ok: z.boolean() }),
  z.object({
    ...common,
    type: z.literal("plan"),
    steps: z.array(
      z.object({
        text: z.string(),
        status: z.enum(["pending", "in_progress", "completed"]),
        priority: z.enum(["high", "medium", "low"]),
      }),
    ),
  }),
  /** The agent waits for a permission. `ask` is unique within the run. `call`: the tool call concerned, if reported. */
  z.object({
    ...common,
    type: z.literal("approval_asked"),
    ask: z.string(),
    call: z.nullable(z.string()),
    name: z.optional(z.string()),
    title: z.string(),
    kind: z.enum(TOOL_KINDS),
    input: z.unknown(),
    /** The changes to files that the tool would make. */
    changes: z.optional(z.array(FileChange)),
    options: z.array(AskOption),
  }),
  /**
   * `option` is null if the request was cancelled with its turn. `by`: the principal that decided, if any. `untold`: the reason of a denial, if the
   * answer could not carry it; the agent gets it as a message.
   */
  z.object({
    ...common,
    type: z.literal("approval_answered"),
    ask: z.string(),
    option: z.nullable(z.string()),
    allowed: z.boolean(),
    by: z.nullable(Principal),
    untold: z.optional(z.string()),
  }),
  /** Total usage of the turn, recorded at its end. It replaces every `usage_so_far` of the turn. */
  z.object({ ...common, type: z.literal("usage"), ...TokenUse.shape }),
  /** Usage of the running turn so far; each entry replaces the previous one. */
  z.object({ ...common, type: z.literal("usage_so_far"), ...TokenUse.shape }),
  z.object({ ...common, type: z.literal("turn_ended"), reason: z.enum(TURN_ENDS) }),
  /** `retry`: true if the same prompt may succeed later. */
  z.object({
    ...common,
    type: z.literal("error"),
    code: z.string(),
    message: z.string(),
    hint: z.nullable(z.string()),
    retry: z.boolean(),
  }),
  /**
   * Any other occurrence, named by `about`: `opened` (the agent has started; `conversation` is its id), `mode`, `model`, `commands`, `cleared`,
   * `left_out`, `context`, `recovered`, and others in future versions.
   */
  z.object({
    ...common,
    type: z.literal("note"),
    about: z.string(),
    text: z.string(),
    conversation: z.optional(z.string()),
    settings: z.optional(z.unknown()),
  }),
]);
export type Entry = z.infer<typeof Entry>;
export type EntryType = Entry["type"];

/** An entry before it is written; the writer adds the common fields. */
export type EntryDraft = { [T in EntryType]: Omit<Extract<Entry, { type: T }>, "v" | "n" | "at" | "turn"> }[EntryType];

/** An entry that has no number yet. */
export type UnnumberedEntry = { [T in EntryType]: Omit<Extract<Entry, { type: T }>, "n"> }[EntryType];

const Known = z.object({ type: z.enum(Entry.def.options.map((option) => option.shape.type.def.values[0]) as [EntryType, ...EntryType[]]) });

/** Parses a complete line: an entry, `unknown` for a type of a newer version, or `damaged`. */
export function parseEntry(line: string): Entry | "unknown" | "damaged" {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "damaged";
  }
  const entry = Entry.safeParse(value);
  if (entry.success) return entry.data;
  const isOther = z.object({ v: z.int(), type: z.string() }).safeParse(value).success && !Known.safeParse(value).success;
  return isOther ? "unknown" : "damaged";
}

/** A choice that the agent offers, such as a mode or a model. */
export const Choice = z.object({ id: z.string(), name: z.string(), description: z.nullable(z.string()) });
export type Choice = z.infer<typeof Choice>;

/** Settings for the next turn, and their choices. Empty lists: the agent offers no choice. */
export const Settings = z.object({
  mode: z.nullable(z.string()),
  modes: z.array(Choice),
  model: z.nullable(z.string()),
  models: z.array(Choice),
  /** The agent's own commands. A prompt that begins with a slash runs one. */
  commands: z.array(z.object({ name: z.string(), description: z.string() })),
});
export type Settings = z.infer<typeof Settings>;
