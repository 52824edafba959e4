/** Builds an agent's command line: program, injected arguments, conversation, the user's arguments, first prompt. */
import { HoldfastError } from "@holdfast/contract";
import { filled, type Profile } from "./profile.ts";

/** The requested command of a session, in parts. */
export interface Asked {
  program: readonly string[];
  args: readonly string[];
  prompt: string | null;
  /** False: the agent is not told about a Working Context, not even with the first message. */
  context?: boolean;
}

/** The agent's own conversation: new under this id, continued, copied (to `id` if the agent takes one), or null: the agent decides. */
export type Conversation = { begin: string } | { resume: string } | { fork: string; id: string | null; directory: string } | null;

/** The conversation that a fork continues until its own first turn is seen: the copy or, if there is none yet, `from`. */
export interface Forked {
  from: string;
  copy: string | null;
  directory: string;
}

/** A run that resumes a conversation gets no prompt: the conversation already contains it. */
export function promptFor(prompt: string | null, conversation: Conversation): string | null {
  return conversation && "resume" in conversation ? null : prompt;
}

export function launchWords(
  profile: Profile | undefined,
  { program, args, prompt }: Asked,
  { injected, conversation }: { injected: readonly string[]; conversation: Conversation },
): string[] {
  const prompted = prompt === null ? [] : promptWords(profile, prompt);
  return [...program, ...injected, ...conversationWords(profile, conversation), ...args, ...prompted];
}

/** The conversation of a run, if the agent takes an id. `known`: the session's conversation, once a turn of it has begun. */
export function conversationFor(
  profile: Profile | undefined,
  asked: Asked,
  { known, forked }: { known: string | null; forked?: Forked | undefined },
  newId: () => string,
): Conversation {
  const { begin, resume, fork } = profile?.conversation ?? {};
  if (choosesItself(profile, asked)) return null;
  const goesOn = known ?? forked?.copy ?? null;
  if (goesOn !== null && resume) return { resume: goesOn };
  if (forked && fork && "words" in fork) {
    const takesId = fork.words.some((word) => word.includes("{id}"));
    return { fork: forked.from, id: takesId ? newId() : null, directory: forked.directory };
  }
  return begin ? { begin: newId() } : null;
}

/** The id of a new conversation. */
export function newIdFor(profile: Profile | undefined, directory: string, newId: () => string): () => string {
  return profile?.conversation?.perDirectory ? () => directory : newId;
}

/** True if the user's arguments choose the conversation. */
export function choosesItself(profile: Profile | undefined, { args }: Asked): boolean {
  const flags = profile?.conversation?.flags;
  return flags !== undefined && args.some((word) => flags.test(word));
}

/** The conversation's id, if it is known before the run. */
export function conversationId(conversation: Conversation): string | null {
  if (!conversation) return null;
  if ("fork" in conversation) return conversation.id;
  return "begin" in conversation ? conversation.begin : conversation.resume;
}

function conversationWords(profile: Profile | undefined, conversation: Conversation): string[] {
  const { begin = [], resume = [], fork } = profile?.conversation ?? {};
  if (!conversation) return [];
  if ("fork" in conversation) {
    const { fork: from, id, directory } = conversation;
    return fork && "words" in fork ? filled(fork.words, { from, id: id ?? "", directory }) : [];
  }
  return "begin" in conversation ? filled(begin, { id: conversation.begin }) : filled(resume, { id: conversation.resume });
}

export function promptWords(profile: Profile | undefined, prompt: string): string[] {
  if (profile?.prompt) return filled(profile.prompt, { prompt });
  throw new HoldfastError("usage", `${profile?.name ?? "it"} takes no first prompt`, {
    hint: "start it without one, then run: holdfast send NAME TEXT",
  });
}
