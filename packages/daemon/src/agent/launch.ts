/** The words with which an agent is started: its program, what we put in, its conversation, what the user gave, the first prompt. */
import { HoldfastError } from "@holdfast/contract";
import { filled, type Profile } from "./profile.ts";

/** What a session was asked to run, in parts. */
export interface Asked {
  program: readonly string[];
  args: readonly string[];
  prompt: string | null;
  /** False: it is told nothing of a Working Context, also not with the first message. */
  context?: boolean;
}

/** The agent's own conversation: a new one of this id, one to go on with, or whatever it does by itself. */
export type Conversation = { begin: string } | { resume: string } | null;

export function launchWords(
  profile: Profile | undefined,
  { program, args, prompt }: Asked,
  { injected, conversation }: { injected: readonly string[]; conversation: Conversation },
): string[] {
  // What was prompted is in the conversation already.
  const prompted = prompt === null || (conversation && "resume" in conversation) ? [] : promptWords(profile, prompt);
  return [...program, ...injected, ...conversationWords(profile, conversation), ...args, ...prompted];
}

/** Which conversation a run is to have, where the agent takes an id. `known`: the session's, once a turn of it was seen to begin. */
export function conversationFor(profile: Profile | undefined, asked: Asked, known: string | null, newId: () => string): Conversation {
  const { begin, resume, flags } = profile?.conversation ?? {};
  // They say themselves which one they want.
  if (flags && asked.args.some((word) => flags.test(word))) return null;
  if (known !== null && resume) return { resume: known };
  return begin ? { begin: newId() } : null;
}

function conversationWords(profile: Profile | undefined, conversation: Conversation): string[] {
  const { begin = [], resume = [] } = profile?.conversation ?? {};
  if (!conversation) return [];
  return "begin" in conversation ? filled(begin, { id: conversation.begin }) : filled(resume, { id: conversation.resume });
}

export function promptWords(profile: Profile | undefined, prompt: string): string[] {
  if (profile?.prompt) return filled(profile.prompt, { prompt });
  throw new HoldfastError("usage", `${profile?.name ?? "it"} takes no first prompt`, {
    hint: "start it without one, and once it runs: holdfast send NAME TEXT",
  });
}
