/**
 * An agent as data: how it is found, started, told its first prompt, resumed, interrupted and read. Adding one is adding a file under
 * profiles/ and a line in profiles/index.ts, or a table `[agents.NAME]` in config.toml (user-profiles.ts), and nothing else.
 *
 * In argument lists `{prompt}`, `{id}` and, for a fork, `{from}` and `{directory}` stand for what is put there.
 */

import type { Budget, SessionKind } from "@holdfast/contract";
import type { ApprovalChannels } from "./approvals.ts";
import type { Background } from "./background.ts";
import type { Composer } from "./composer.ts";
import type { Running } from "./find-conversation.ts";
import type { Fork } from "./fork.ts";
import type { HookReading } from "./hooks/hook-rules.ts";
import type { Injected, InjectionPlace } from "./hooks/injection.ts";
import type { McpGiven, McpPlace, McpServer } from "./mcp.ts";
import type { OwnAgent } from "./own-agent.ts";
import type { PromptArguments } from "./prompt-arguments.ts";
import type { ScreenRule } from "./status/screen-rules.ts";
import type { StateFile } from "./status/state-file.ts";
import type { Transcript } from "./transcript.ts";
import type { UsageSource } from "./usage-source.ts";

export interface LaunchContext {
  /** The environment the session will have. */
  env: Readonly<Record<string, string>>;
  /** The Node that runs the daemon. */
  node: string;
  /** The directory of our own programs. */
  programs: string;
}

/** A program and its arguments. */
export type Command = readonly string[] | ((context: LaunchContext) => string[]);

/** A file of the run's, put in with its hooks, from which the agent takes what is appended to it. */
export interface Channel {
  /** For people. */
  name: string;
  /** In the directory of what is put in; where it is not there, it was not put in. */
  file: string;
  /** The line that says it; it names the message, so that the file tells what was said. */
  line(message: { id: string; text: string }): string;
}

/** Commands for a person to run; nothing here is run without being asked. */
export interface Setup {
  /** Installs it. */
  install: string;
  /** Installs the adapter through which it is talked to, where it has one. */
  adapter?: string;
  login?: {
    command: string;
    /** By the files in that home; undefined: they do not tell. Keys in the environment are not looked at. */
    isThere(home: string): boolean | undefined;
  };
}

export interface Profile {
  name: string;
  description: string;
  kind: Extract<SessionKind, "terminal" | "shell">;
  /** The program and its arguments; what the user gives after `--` is added. `shell` and `demo` depend on where they run. */
  command: Command;
  /** Arguments that make it print its version and end. */
  version?: readonly string[];
  /** The flag with which its program takes a model. */
  modelFlag?: string;
  /** What it begins with where no person is attached, of its own table. */
  background?: Background;
  /** Arguments of a first prompt; without them it takes none, and is typed to once it runs. */
  prompt?: readonly string[];
  /** Which arguments of its command line carry a prompt. Without it, those that `prompt` has. */
  arguments?: PromptArguments;
  /** The agent's own conversation: arguments to give it an id from the start, and to go on with one. */
  conversation?: {
    begin?: readonly string[];
    resume: readonly string[];
    /** How a copy of one is gone on with, in any directory. Without it, it cannot be forked. */
    fork?: Fork;
    /** Which one it has, where nobody was told, as far as its own files leave no doubt. One with a state file that says it needs none. */
    find?(running: Running): string | undefined;
    /** For one that takes prompts before it has read the conversation it goes on with: a line that it shows of any, once it has. */
    shows?: RegExp;
    /** It has no ids and keeps one conversation for each directory, by which that is known here. */
    perDirectory?: true;
    /** It drops a prompt that is given with the conversation to go on with. */
    dropsPrompt?: true;
    /** Words with which a user chooses one: then none is given. */
    flags?: RegExp;
  };
  /** Hooks that are put into it so that it tells what it does, and how they are read. */
  hooks?: HookReading & { inject(place: InjectionPlace): Injected };
  /** How it asks for leave, and takes the answer of the inbox. */
  approvals?: ApprovalChannels;
  /** A file in which it keeps itself what it is doing, and how that is read. */
  stateFile?: StateFile;
  /** It does not say, or says late, which of its processes run in the background: they are looked at. */
  leavesUntold?: boolean;
  /** What it writes down itself of a conversation. */
  transcript?: Transcript;
  /** What it writes down itself of what it uses. Without it nobody knows, unless its protocol tells. */
  usage?: UsageSource;
  /** What its screen and title say, in order of precedence. Without rules its status is never more than that of its process. */
  screen?: readonly ScreenRule[];
  /** Words in its output after which its screen is looked at soon, however much it moves. */
  urgent?: RegExp;
  /** Where people type, and how it looks when nobody did. Without it nobody can know whether typing would garble a draft. */
  composer?: Composer;
  /** A way to say something to it without typing, which leaves what a person types alone. Without it, it is typed to. */
  channel?: Channel;
  /** How it is given MCP servers for one run, beside its own. */
  mcp?(place: McpPlace): McpGiven;
  /** Where it takes them from files of ours, of one that does not everywhere. */
  takesServersBelow?(directory: string): boolean;
  /** Those that config.toml has for it. */
  servers?: readonly McpServer[];
  /** What config.toml allows each session of it. */
  budget?: Budget;
  /** The command with which it speaks the Agent Client Protocol on its input and output: the agent itself, or an adapter for it. */
  structured?: Command;
  /** What is to be known of how it speaks that protocol. */
  talk?: {
    /** It keeps a conversation under the minute in which it was opened: opened twice within one, what was said the first time is overwritten. */
    keepsByTheMinute?: true;
  };
  /** For one that in a conversation is a program of ours: what that is told. */
  ours?: OwnAgent;
  /** It has no screen: it can only be talked to. */
  chatOnly?: true;
  /** How a person gets it ready. */
  setup?: Setup;
  /** How a turn is interrupted; pressed one after the other. */
  interrupt?: readonly string[];
  /** For a turn that goes on all the same. Only where it does not end an agent whose turn is over. */
  interruptHarder?: readonly string[];
  /** After a paste, before Enter: with less some take the Enter for a part of it. */
  enterAfterMs?: number;
  /** Never tried by us with the real program: said so, and no status beyond the process. */
  untested?: true;
  /** Tried only with a stand-in that behaves as the program's documentation says. */
  standIn?: true;
  /** From config.toml. */
  own?: true;
}

/** Whether what it does shows; of one that does not show it, nobody knows whether it had a turn. */
export function isObserved({ untested, hooks, screen, stateFile }: Profile): boolean {
  return !untested && Boolean(hooks || screen || stateFile);
}

export function commandOf(profile: Profile, context: LaunchContext): string[] {
  return wordsOf(profile.command, context);
}

/** Undefined for one that nobody knows to speak it. */
export function structuredCommandOf(profile: Profile, context: LaunchContext): string[] | undefined {
  return profile.structured && wordsOf(profile.structured, context);
}

function wordsOf(command: Command, context: LaunchContext): string[] {
  return typeof command === "function" ? command(context) : [...command];
}

/** Words of their own or parts of one, `--prompt={prompt}`. A word that is nothing else and begins with a dash would be taken for a flag. */
export function filled(template: readonly string[], values: Readonly<Record<string, string>>): string[] {
  return template.map((word) => {
    const text = word.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
    return word.startsWith("{") && text.startsWith("-") ? ` ${text}` : text;
  });
}
