/**
 * Decides the next step for a message from its state and the current situation. Pure: the same for a daemon that typed the message and for one that
 * finds it half done.
 *
 * Nothing is typed and Enter is not pressed while the agent waits for a person (Enter says yes in every known agent), over text that somebody has
 * begun to type, or while the agent's status is unknown. An unknown outcome is reported and not retried: a message that its sender has to check is
 * better than one that is delivered twice.
 */
import type { Attention, Turn, Wait } from "@holdfast/contract";
import type { MessageRecord } from "../projection/messages.ts";
import type { Holds } from "./whose-text.ts";

export interface Situation {
  /** The session runs, is not started yet, will restart, gets a next run only if a person resumes it, or has ended. */
  process: "lives" | "created" | "restarts" | "broken" | "ended";
  /** True if the current run is the one in which the message was handed over. */
  sameRun: boolean;
  /** Null if unknown. */
  turn: Turn | null;
  attention: Wait | null;
  /** Why its budget allows no further turn: the session is about to be stopped, or was. */
  usedUp: string | null;
  /** The content of the composer; `none`: no composer that takes input is visible. */
  composer: Holds;
  /** How long the situation has been the same, as far as this daemon has seen. */
  steadyMs: number;
  attempt: Attempt;
  /** True for each thing that the agent reports: the prompt that began a turn, and its answers. */
  tells: { prompts: boolean; replies: boolean };
  /** True if the agent's own files say that it took the message into a turn, and a turn was answered since. */
  joined: boolean;
  /** True if the agent's own channel has the message; undefined: there is no channel, and messages are typed. */
  channel: boolean | undefined;
}

/** This daemon's actions on a message, and its observations since. */
export interface Attempt {
  /** How often it was pasted into the composer; unknown after a restart of the daemon. */
  pasted: number;
  entered: number;
  /** The evidence of a turn seen since; nothing says that the turn is this message's. */
  sawTurn: string | null;
  /** For a message given into a running turn: the evidence that the agent has reported it. Claude does so at once, whenever its turn begins. */
  told: string | null;
  /** The agent's own id of that running turn, if it reports one. */
  into: string | null;
  /** The first answer that the agent reported since, of whatever turn. */
  heard: { reply: string; turn: string | null } | null;
  /** The agent's last answer since. */
  reply: string | null;
  /** Why the turn failed, if nothing followed. */
  failure: string | null;
}

export type Action =
  /** Wait for a change, or this long. `why` is for the sender, who reads the agent's name in place of a leading "it" or "its". */
  | { do: "hold"; why: string; againMs: number }
  | { do: "hand over" }
  | { do: "press enter" }
  | { do: "requeue"; why: string }
  | { do: "note injected" }
  | { do: "settle"; why: string }
  | { do: "note turn"; evidence: string }
  | { do: "note answer" }
  | { do: "note reply" }
  | { do: "fail"; why: string; hint: string; known: boolean };

/** The composer shows a paste within this time, even on a slow machine. */
export const SHOWN_MS = 3000;
/** Text that the daemon finds in a composer but did not paste must have been there this long: an Enter may be on its way. */
export const FOUND_MS = 700;
/** By then a message that was submitted has left the screen. */
export const TAKEN_MS = 2500;
/** By then a hook has reported a prompt; opencode took four seconds for the first prompt on a busy machine. */
export const TOLD_MS = 10_000;
/** After this time without a sign of its own command, an agent is ready for the next message. A turn that is reported later still counts. */
export const COMMAND_MS = 1000;
/** A screen that shows nothing known says so little that it gets more time. */
const UNKNOWN_MS = 30_000;
/** The answer is reported within this time after the end of a turn. */
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
  // The end of this state is reported.
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
  if (composer === "ours" && now.turn === "working" && !message.steer && !message.working)
    return hold("it began a turn; the message is submitted when the turn ends");
  if (composer === "ours")
    return attempt.pasted > 0 || steadyMs >= FOUND_MS ? { do: "press enter" } : hold("the message is being typed", 100);
  if (composer === "mixed") {
    return steadyMs < FOUND_MS
      ? hold("the message is being typed", 100)
      : failed("somebody typed at the same time; it was not submitted", CLEAR, true);
  }
  // Nobody knows whose text it is, and all later messages wait.
  if (composer === "other" && steadyMs >= UNKNOWN_MS)
    return failed("the composer's text is not what was typed; Enter was not pressed", CLEAR, attempt.pasted > 0);
  if (composer === "none" || composer === "other" || now.turn === null)
    return hold("the message is being typed", attempt.pasted > 0 ? 50 : 500);
  if (steadyMs < SHOWN_MS) return hold("the message is being typed", attempt.pasted > 0 ? 50 : 250);
  if (now.turn === "working" && message.working) return hold("the message is being typed");
  // No trace of the message. If it had been submitted, the agent would have reported it, if it can and no other turn hides it.
  const untold = !now.tells.prompts || message.working || attempt.sawTurn !== null || now.turn === "working";
  if (untold)
    return steadyMs < TOLD_MS ? hold("the message is being typed", 500) : failed("the message may have been typed, or not", LOOK, false);
  if (attempt.pasted >= PASTES) return failed("its composer does not accept pasted text", LOOK, true);
  return { do: "requeue", why: "the typed text is not there" };
}

function decideInjected(message: MessageRecord, now: Situation): Action {
  const { attempt, composer, steadyMs, tells } = now;
  if (now.process !== "lives" || !now.sameRun) return failed("its run ended before a turn began", LOOK, false);
  if (now.joined) return { do: "note answer" };
  if (now.turn === "working" || now.attention) {
    if (message.working) return hold("it has the message; a turn is running");
    if (tells.prompts && steadyMs < TOLD_MS) return hold("it has the message", 500);
    return { do: "note turn", evidence: attempt.sawTurn ?? "a turn began after it was handed over" };
  }
  if (composer === "ours" && message.via === "typed") {
    if (steadyMs < TAKEN_MS) return hold("it has the message", 250);
    if (attempt.entered < ENTERS) return { do: "press enter" };
    // A starved opencode took a first prompt only after six seconds.
    if (steadyMs < TOLD_MS) return hold("it has the message", 500);
    return failed("the message is in the composer, which ignores Enter", "attach to see why: holdfast attach NAME", false);
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

/** A message given into a running turn may be answered by that turn or by its own turn right after: the last answer counts. */
function decideStarted(now: Situation): Action {
  if (now.process !== "lives" || !now.sameRun)
    return failed("its run ended before it answered", "read its output: holdfast logs NAME", true);
  // In the middle of a turn, the agent handles a rate limit itself.
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

/** After this time a rate limit without a known end is tried: a turn that fails because of it is reported to the sender. */
const UNTIMED_MS = 60_000;

/**
 * True if a rate limit is over although the agent still shows it: its composer takes the next prompt, and nothing else ends the wait. In the middle
 * of a turn (`working`) the agent handles the limit itself.
 */
export function limitIsOver(
  { for: what, until }: Attention,
  { turn, since, now }: { turn: Turn | null; since: string | null; now: number },
): boolean {
  if (what !== "rate_limit" || turn !== "idle") return false;
  if (until !== null) return now >= Date.parse(until);
  return since !== null && now >= Date.parse(since) + UNTIMED_MS;
}

/** Agents treat such text as their own command. */
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
