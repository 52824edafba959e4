/**
 * What to do next with a message, from how far it has come and what is to be seen. Pure: the same for a daemon that typed it and for the one
 * that finds it half done.
 *
 * Nothing is typed and no Enter pressed while the agent waits for a person (Enter says yes in every agent we know), over what somebody
 * has begun to type, or while it is not known what the agent does. What cannot be found out is said so, and not tried again: better a message
 * that its sender looks after than one that is said twice.
 */
import type { Attention, Turn, Wait } from "@holdfast/contract";
import type { MessageRecord } from "../projection/messages.ts";
import type { Holds } from "./whose-text.ts";

export interface Situation {
  /** It runs, is to be started, will run again by itself, if somebody resumes what nobody meant to end, or will not. */
  process: "lives" | "created" | "restarts" | "broken" | "ended";
  /** What runs is the run in which the message was handed over. */
  sameRun: boolean;
  /** Null: unknown. */
  turn: Turn | null;
  attention: Wait | null;
  /** Why its budget allows no further turn: it is about to be stopped, or was. */
  usedUp: string | null;
  /** What is in the composer; `none`: there is none that takes what is typed. */
  composer: Holds;
  /** For how long all of this has been so, as far as this daemon saw. */
  steadyMs: number;
  attempt: Attempt;
  /** What the agent can tell: the prompt that began a turn, and what it answered. */
  tells: { prompts: boolean; replies: boolean };
  /** Whether the agent's own channel has the message; undefined: it has none, and is typed to. */
  channel: boolean | undefined;
}

/** What this daemon did with a message, and saw since. */
export interface Attempt {
  /** How often it was put into the composer; after a restart of the daemon nobody knows. */
  pasted: number;
  entered: number;
  /** A turn was seen since, and by what; that it is the message's nobody said. */
  sawTurn: string | null;
  /** Of one that was given into a running turn: that the agent has told of it, by what. Claude does so at once, whenever its turn begins. */
  told: string | null;
  /** What the agent said last since. */
  reply: string | null;
  /** Why the turn failed, if nothing followed. */
  failure: string | null;
}

export type Action =
  /** Wait for a change, or so long. `why` is for its sender, who reads the agent's name where it begins with "it" or "its". */
  | { do: "hold"; why: string; againMs: number }
  | { do: "hand over" }
  | { do: "press enter" }
  | { do: "requeue"; why: string }
  | { do: "note injected" }
  | { do: "settle"; why: string }
  | { do: "note turn"; evidence: string }
  | { do: "note reply" }
  | { do: "fail"; why: string; hint: string; known: boolean };

/** After a paste the composer shows it within this; a slow machine takes its time. */
export const SHOWN_MS = 3000;
/** What is found in a composer by a daemon that did not put it there must have been there for this long: an Enter may be on its way. */
export const FOUND_MS = 700;
/** An Enter that was taken is gone from the screen by then. */
export const TAKEN_MS = 2500;
/** A hook that tells of a prompt has told it by then; opencode took four seconds for the first prompt on a busy machine. */
export const TOLD_MS = 10_000;
/** An agent that shows nothing of a command of its own after this is ready for what comes next. A turn that is told later is taken all the same. */
export const COMMAND_MS = 1000;
/** What shows nothing that is known says so little that it is waited for longer. */
const UNKNOWN_MS = 30_000;
/** After the end of a turn, what the agent said comes within this. */
export const ANSWER_MS = 3000;
const PASTES = 3;
const ENTERS = 2;
const LATER_MS = 2000;

const LOOK = "check its screen: holdfast screen NAME; send it again if it is not there";

const CLEAR = "attach, and send or clear the text there: holdfast attach NAME";

export function decide(message: MessageRecord, now: Situation): Action {
  if (message.state === "queued") return decideQueued(message, now);
  if (message.state === "injecting") return decideInjecting(message, now);
  if (message.state === "injected") return decideInjected(message, now);
  return decideStarted(now);
}

function decideQueued(message: MessageRecord, now: Situation): Action {
  if (now.process === "ended" && now.usedUp !== null) return failed(now.usedUp, "raise the limit: holdfast resume NAME --budget …", true);
  if (now.process === "ended") return failed("the session has ended", "start it again, and send it again", true);
  if (now.process === "created") return hold("the session has not been started", 3_600_000);
  if (now.process === "restarts") return hold("the session has ended and will be started again");
  // What ends that is told.
  if (now.process === "broken") return hold("the session has ended; its next run gets the message", 3_600_000);
  if (now.attention) return hold(waitsFor(now.attention));
  if (now.turn === null) return hold("its status is not known");
  if (now.turn === "working" && !message.steer) return hold("it is working; the message is delivered when the turn ends");
  if (now.usedUp !== null && now.turn === "idle") return hold(now.usedUp);
  if (now.channel !== undefined) return { do: "hand over" };
  if (now.composer === "none") return hold("its composer is not visible", 250);
  if (now.composer !== "nothing")
    return hold("its composer is not empty: somebody is typing, or an interrupted prompt came back; the message waits until it is empty");
  return { do: "hand over" };
}

function decideInjecting(message: MessageRecord, now: Situation): Action {
  const { attempt, composer, steadyMs } = now;
  if (now.process !== "lives" || !now.sameRun) return failed("its run ended while the message was being delivered", LOOK, false);
  if (now.channel !== undefined) return now.channel ? { do: "note injected" } : { do: "requeue", why: "its channel does not have it" };
  if (attempt.entered > 0) return { do: "note injected" };
  if (now.attention) return hold(`${waitsFor(now.attention)}; nothing more is typed`);
  if (composer === "ours")
    return attempt.pasted > 0 || steadyMs >= FOUND_MS ? { do: "press enter" } : hold("the message is being typed", 100);
  if (composer === "mixed") {
    return steadyMs < FOUND_MS
      ? hold("the message is being typed", 100)
      : failed("somebody typed at the same time; it was not submitted", CLEAR, true);
  }
  // Nobody knows whose it is, and all that comes after it waits.
  if (composer === "other" && steadyMs >= UNKNOWN_MS)
    return failed("the composer's text is not what was typed; Enter was not pressed", CLEAR, attempt.pasted > 0);
  if (composer === "none" || composer === "other" || now.turn === null)
    return hold("the message is being typed", attempt.pasted > 0 ? 50 : 500);
  if (steadyMs < SHOWN_MS) return hold("the message is being typed", attempt.pasted > 0 ? 50 : 250);
  if (now.turn === "working" && message.working) return hold("the message is being typed");
  // Nothing is there of it. Was it submitted, the agent would have told, if it can and nobody else's turn hides it.
  const untold = !now.tells.prompts || message.working || attempt.sawTurn !== null || now.turn === "working";
  if (untold)
    return steadyMs < TOLD_MS ? hold("the message is being typed", 500) : failed("the message may have been typed, or not", LOOK, false);
  if (attempt.pasted >= PASTES) return failed("its composer does not accept pasted text", LOOK, true);
  return { do: "requeue", why: "the typed text is not there" };
}

function decideInjected(message: MessageRecord, now: Situation): Action {
  const { attempt, composer, steadyMs, tells } = now;
  if (now.process !== "lives" || !now.sameRun) return failed("its run ended before a turn began", LOOK, false);
  if (now.turn === "working" || now.attention) {
    if (message.working) return hold("it has the message; a turn is running");
    if (tells.prompts && steadyMs < TOLD_MS) return hold("it has the message", 500);
    return { do: "note turn", evidence: attempt.sawTurn ?? "a turn began after it was handed over" };
  }
  if (composer === "ours" && message.via === "typed") {
    if (steadyMs < TAKEN_MS) return hold("it has the message", 250);
    if (attempt.entered < ENTERS) return { do: "press enter" };
    return failed("the message is in the composer, which ignores Enter", "attach to see why: holdfast attach NAME", true);
  }
  if (!tells.prompts && attempt.sawTurn !== null) return { do: "note turn", evidence: attempt.sawTurn };
  const isDone =
    isCommand(message.text) && !message.working && now.turn === "idle" && (composer === "nothing" || now.channel !== undefined);
  if (isDone && steadyMs >= COMMAND_MS) return { do: "settle", why: "the agent's own commands begin no turn" };
  if (isDone) return hold("it has the message", 250);
  if (message.working && attempt.told !== null && steadyMs >= ANSWER_MS) return { do: "note turn", evidence: attempt.told };
  if (steadyMs < (now.turn === null ? UNKNOWN_MS : TOLD_MS)) return hold("it has the message", 500);
  if (attempt.sawTurn !== null) return { do: "note turn", evidence: attempt.sawTurn };
  if (message.working) return { do: "note turn", evidence: "it left the composer while a turn ran, which has ended" };
  if (isCommand(message.text)) return { do: "settle", why: "the agent's own commands begin no turn" };
  if (!tells.prompts) return { do: "settle", why: "no evidence shows whether a turn began with it" };
  return failed("the message was submitted, but no turn began with it", LOOK, false);
}

/** Given into a running turn, it may be answered with that one or with one of its own right after: the last answer is its answer. */
function decideStarted(now: Situation): Action {
  if (now.process !== "lives" || !now.sameRun)
    return failed("its run ended before it answered", "read its output: holdfast logs NAME", true);
  // A limit that it waits for in the middle of a turn it sees to itself.
  const limited = now.turn === "idle" && now.attention === "rate_limit";
  if (limited && now.steadyMs >= ANSWER_MS)
    return failed("its rate limit ended the turn", "send it again later: holdfast ls shows when", true);
  if (now.turn !== "idle" || now.attention) return hold("it is working on it", limited ? 500 : LATER_MS);
  if (now.steadyMs < ANSWER_MS) return hold("it is working on it", 500);
  if (!now.tells.replies || now.attempt.reply !== null) return { do: "note reply" };
  if (now.attempt.failure !== null) return failed(turnFailed(now.attempt.failure), "check its screen: holdfast screen NAME", true);
  return failed("the turn ended without an answer; it may have been interrupted", "check its screen: holdfast screen NAME", true);
}

export function turnFailed(why: string): string {
  return `its turn failed: ${why}`;
}

/** A limit of which nobody said when it ends is tried after this: a turn that fails by it says so to its sender. */
const UNTIMED_MS = 60_000;

/**
 * Whether nothing is to be waited for any more though the agent still says so: after a limit its composer takes the next prompt, and nothing
 * else ends that. One in whose middle it is (`working`) it sees to itself.
 */
export function limitIsOver(
  { for: what, until }: Attention,
  { turn, since, now }: { turn: Turn | null; since: string | null; now: number },
): boolean {
  if (what !== "rate_limit" || turn !== "idle") return false;
  if (until !== null) return now >= Date.parse(until);
  return since !== null && now >= Date.parse(since) + UNTIMED_MS;
}

/** Agents take what begins so for themselves. */
export function isCommand(text: string): boolean {
  return /^[/!#]/.test(text.trim());
}

const WAITS: Record<Wait, string> = {
  approval: "it waits for an approval",
  question: "it waits for an answer to a question",
  trust: "it asks whether to trust the directory",
  login: "it waits for a login",
  rate_limit: "it waits for its rate limit",
};

function waitsFor(wait: Wait): string {
  return WAITS[wait];
}

function hold(why: string, againMs = LATER_MS): Action {
  return { do: "hold", why, againMs };
}

function failed(why: string, hint: string, known: boolean): Action {
  return { do: "fail", why, hint, known };
}
