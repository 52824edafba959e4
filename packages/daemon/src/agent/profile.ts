/**
 * An agent as data: how to find, start, prompt, resume, interrupt and read it. A new agent needs only a file under profiles/ and a line in
 * profiles/index.ts, or a table `[agents.NAME]` in config.toml (user-profiles.ts).
 *
 * Placeholders in argument lists: `{prompt}`, `{id}` and, for a fork, `{from}` and `{directory}`.
 */

import type { Budget, SessionKind } from "@holdfast/contract";
import type { ApprovalChannels } from "./approvals.ts";
import type { Background } from "./background.ts";
import type { Command, LaunchContext } from "./command.ts";
import type { Composer } from "./composer.ts";
import type { Running } from "./find-conversation.ts";
import type { Fork } from "./fork.ts";
import type { HookReading } from "./hooks/hook-rules.ts";
import type { Injecting } from "./hooks/injection.ts";
import type { McpGiven, McpPlace, McpServer } from "./mcp.ts";
import type { OwnAgent } from "./own-agent.ts";
import type { PromptArguments } from "./prompt-arguments.ts";
import type { ScreenRule } from "./status/screen-rules.ts";
import type { StateFile } from "./status/state-file.ts";
import type { ToolLimits } from "./tool-rule.ts";
import type { Transcript } from "./transcript.ts";
import type { UsageSource } from "./usage-source.ts";

/** A file of the run, injected with the hooks. The agent reads the lines that are appended to it. */
export interface Channel {
  /** For people. */
  name: string;
  /** File name in the injection directory. If the file is missing, the channel was not injected. */
  file: string;
  /** The line for a message. It contains the id, so the file shows which messages were sent. */
  line(message: { id: string; text: string }): string;
}

/** Commands for a person to run. Holdfast runs none of them without being asked. */
export interface Setup {
  /** Installs the agent. */
  install: string;
  /** Installs the adapter for conversations, if the agent needs one. */
  adapter?: string;
  login?: {
    command: string;
    /** Checks the files in that home; undefined if they do not tell. Ignores keys in the environment. */
    isThere(home: string): boolean | undefined;
  };
}

export interface Profile {
  name: string;
  description: string;
  kind: Extract<SessionKind, "terminal" | "shell">;
  /** The program and its arguments; the user's words after `--` are added. A function where it depends on the context. */
  command: Command;
  /** Arguments that print the version. */
  version?: readonly string[];
  /** The flag that selects a model. */
  modelFlag?: string;
  /** The flag that selects a permission mode. */
  modeFlag?: string;
  /** Settings for a start without a person attached, from the agent's own table. */
  background?: Background;
  /** Arguments for a first prompt. Without them the agent takes none; messages can be sent once it runs. */
  prompt?: readonly string[];
  /** The arguments that carry a prompt on its command line. Default: those of `prompt`. */
  arguments?: PromptArguments;
  /** The agent's own conversation: arguments that give a new one an id, and that continue one. */
  conversation?: {
    begin?: readonly string[];
    resume: readonly string[];
    /** How to continue a copy of a conversation in any directory. Without it, the agent cannot be forked. */
    fork?: Fork;
    /** Finds an unreported conversation where the agent's own files leave no doubt. Not needed if the state file names it. */
    find?(running: Running): string | undefined;
    /** For an agent that takes prompts before it has loaded the conversation to continue: a line that it shows once it has. */
    shows?: RegExp;
    /** The agent has no ids and keeps one conversation per directory; the directory serves as the id. */
    perDirectory?: true;
    /** The agent drops a prompt that is passed together with a conversation to continue. */
    dropsPrompt?: true;
    /** Arguments with which the user chooses a conversation; Holdfast then adds none. */
    flags?: RegExp;
  };
  /** Hooks injected into the agent so that it reports what it does, and how to read them. */
  hooks?: HookReading & Injecting;
  /** How the agent asks for permission and takes answers from the inbox. */
  approvals?: ApprovalChannels;
  /** The agent's own state file, and how to read it. */
  stateFile?: StateFile;
  /** The agent reports its background processes late or never, so Holdfast inspects the processes. */
  leavesUntold?: boolean;
  /** The agent's own record of a conversation. */
  transcript?: Transcript;
  /** The agent's own record of its usage. Without it the usage is unknown, unless the protocol reports it. */
  usage?: UsageSource;
  /** Rules for its screen and title, in order of precedence. Without rules only the status of its process is known. */
  screen?: readonly ScreenRule[];
  /** Output that triggers an early look at the screen, even while the screen changes. */
  urgent?: RegExp;
  /** The composer, and how it looks when empty. Without it nothing can tell whether typing would garble a draft. */
  composer?: Composer;
  /** A way to hand over messages without disturbing a person's draft. Without it, messages are typed. */
  channel?: Channel;
  /** How to add MCP servers for one run to the agent's own. */
  mcp?(place: McpPlace): McpGiven;
  /** For an agent that reads Holdfast's files only in some directories: true if it does below this one. */
  takesServersBelow?(directory: string): boolean;
  /** How the agent is held to the tools of a role. Only with a test on the real program that excluded tools do not reach the model. */
  tools?: ToolLimits;
  /** The MCP servers of config.toml and Holdfast's own. */
  servers?: readonly McpServer[];
  /** The budget of config.toml for each of its sessions. */
  budget?: Budget;
  /** The command that speaks the Agent Client Protocol on standard input and output: the agent itself or an adapter. */
  structured?: Command;
  /** Peculiarities of how it speaks that protocol. */
  talk?: {
    /** It names a conversation's file by the minute of opening: a second opening within that minute overwrites the first. */
    keepsByTheMinute?: true;
  };
  /** The order for an agent that is one of Holdfast's own programs in a conversation. */
  ours?: OwnAgent;
  /** The agent has no screen; it supports only conversations. */
  chatOnly?: true;
  /** How a person installs it and logs in. */
  setup?: Setup;
  /** Keys that interrupt a turn, pressed one after the other. */
  interrupt?: readonly string[];
  /** Keys for a turn that continues anyway. Only where they do not end an agent whose turn is over. */
  interruptHarder?: readonly string[];
  /** Delay between a paste and Enter. With less, some agents take the Enter as part of the paste. */
  enterAfterMs?: number;
  /** Never tried with the real program. It is listed as untested, and only the status of its process is known. */
  untested?: true;
  /** Tried only with a stand-in that behaves as the program's documentation says. */
  standIn?: true;
  /** From config.toml. */
  own?: true;
}

/** True if the agent's activity can be observed. Otherwise its turns are unknown. */
export function isObserved({ untested, hooks, screen, stateFile }: Profile): boolean {
  return !untested && Boolean(hooks || screen || stateFile);
}

export function commandOf(profile: Profile, context: LaunchContext): string[] {
  return wordsOf(profile.command, context);
}

/** Undefined if the agent is not known to speak the protocol. */
export function structuredCommandOf(profile: Profile, context: LaunchContext): string[] | undefined {
  return profile.structured && wordsOf(profile.structured, context);
}

function wordsOf(command: Command, context: LaunchContext): string[] {
  return typeof command === "function" ? command(context) : [...command];
}

/** Fills placeholders, also within a word: `--prompt={prompt}`. A value of its own that begins with a dash would be read as a flag. */
export function filled(template: readonly string[], values: Readonly<Record<string, string>>): string[] {
  return template.map((word) => {
    const text = word.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
    return word.startsWith("{") && text.startsWith("-") ? ` ${text}` : text;
  });
}
