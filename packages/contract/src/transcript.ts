/**
 * The structured record of a conversation: `transcript.jsonl` of each run, an entry a line, only ever appended to by what keeps the run. What an
 * agent says arrives in pieces, and each piece is an entry: consecutive ones of one type and `turn` are one text.
 *
 * Fields are only ever added; what would break a reader gets a new `v`. Readers pass over types they do not know.
 */
import * as z from "zod/mini";
import { Principal } from "./ids.ts";
import { Time } from "./session.ts";
import { TOOL_KINDS, TURN_ENDS } from "./status.ts";

export const TRANSCRIPT_VERSION = 1;

/** `n` counts the entries of the run from 1. `turn`: the message that began it; null between turns. */
const common = { v: z.int().check(z.positive()), n: z.int().check(z.positive()), at: Time, turn: z.nullable(z.string()) };

const count = z.nullable(z.int().check(z.nonnegative()));

/**
 * Tokens; null where the agent does not say. `cost` in US dollars, by the agent's own account. `context`: how full it is. `estimated`: the tokens are
 * counted from the length of the texts, because the agent does not tell them.
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

/** What a permission is asked with: one of these is the answer. */
export const AskOption = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(["allow_once", "allow_always", "reject_once", "reject_always"]),
});
export type AskOption = z.infer<typeof AskOption>;

/** A change to a file, as the tool that makes it tells it. */
export const FileChange = z.object({ path: z.string(), old: z.nullable(z.string()), new: z.string() });
export type FileChange = z.infer<typeof FileChange>;

export const Entry = z.discriminatedUnion("type", [
  /** A prompt: with it a turn begins, or, with `steer`, it is given into the one that runs. `addition` follows the words that `from` said. */
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
  /** `call` is the agent's id of it. */
  z.object({
    ...common,
    type: z.literal("tool_started"),
    call: z.string(),
    /** The agent's own word for the tool, where it tells it. */
    name: z.optional(z.string()),
    title: z.string(),
    kind: z.enum(TOOL_KINDS),
    input: z.unknown(),
    files: z.array(z.string()),
  }),
  /** More of what it says or shows, or another title once it is known better. */
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
  /** The agent waits for leave. `ask` tells it from others of the run. `call`: for what, where that was told. */
  z.object({
    ...common,
    type: z.literal("approval_asked"),
    ask: z.string(),
    call: z.nullable(z.string()),
    name: z.optional(z.string()),
    title: z.string(),
    kind: z.enum(TOOL_KINDS),
    input: z.unknown(),
    /** What it would change in files. */
    changes: z.optional(z.array(FileChange)),
    options: z.array(AskOption),
  }),
  /** `option` null: it was cancelled with its turn. `by`: who decided, where somebody did. */
  z.object({
    ...common,
    type: z.literal("approval_answered"),
    ask: z.string(),
    option: z.nullable(z.string()),
    allowed: z.boolean(),
    by: z.nullable(Principal),
  }),
  /** Everything the turn used. It comes with the end of the turn and replaces each `usage_so_far` of the turn. */
  z.object({ ...common, type: z.literal("usage"), ...TokenUse.shape }),
  /** The sum of the running turn up to now; the next one replaces it. */
  z.object({ ...common, type: z.literal("usage_so_far"), ...TokenUse.shape }),
  z.object({ ...common, type: z.literal("turn_ended"), reason: z.enum(TURN_ENDS) }),
  /** `retry`: whether the same words may do better another time. */
  z.object({
    ...common,
    type: z.literal("error"),
    code: z.string(),
    message: z.string(),
    hint: z.nullable(z.string()),
    retry: z.boolean(),
  }),
  /**
   * What else happened. `about` says what: `opened` (the agent is there; `conversation` is its id), `mode`, `model`, `commands`, `cleared`,
   * `left_out`, `context`, `recovered`, and more to come.
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

/** An entry before it is written: who writes it knows the rest. */
export type EntryDraft = { [T in EntryType]: Omit<Extract<Entry, { type: T }>, "v" | "n" | "at" | "turn"> }[EntryType];

/** The same, to be numbered. */
export type UnnumberedEntry = { [T in EntryType]: Omit<Extract<Entry, { type: T }>, "n"> }[EntryType];

const Known = z.object({ type: z.enum(Entry.def.options.map((option) => option.shape.type.def.values[0]) as [EntryType, ...EntryType[]]) });

/** Of a line that is whole: an entry; `unknown`, of a newer version; or `damaged`. */
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

/** A choice that the agent offers: its modes, its models. */
export const Choice = z.object({ id: z.string(), name: z.string(), description: z.nullable(z.string()) });
export type Choice = z.infer<typeof Choice>;

/** What can be set for the next turn, and what it is now. Empty: the agent offers nothing to choose from. */
export const Settings = z.object({
  mode: z.nullable(z.string()),
  modes: z.array(Choice),
  model: z.nullable(z.string()),
  models: z.array(Choice),
  /** Commands of the agent's own, to be sent as a prompt that begins with a slash. */
  commands: z.array(z.object({ name: z.string(), description: z.string() })),
});
export type Settings = z.infer<typeof Settings>;
