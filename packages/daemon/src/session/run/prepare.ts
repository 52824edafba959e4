/** Writes the files of a planned session and of its first run, before anything is recorded. */
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  ABSENT,
  checkName,
  HoldfastError,
  type HostName,
  hasEnded,
  isShortPrompt,
  knownCause,
  newSessionId,
  type Principal,
  requestedOf,
  type SessionId,
  type SessionKind,
  type SessionSpec,
  type SessionStatus,
  type SpawnRequest,
} from "@holdfast/contract";
import { type Home, runDirectory, whyUnwritable } from "@holdfast/platform";
import { firstLineOf } from "../../agent/glance.ts";
import { headed, newNonce } from "../../agent/heading.ts";
import { conversationFor, conversationId, type Forked, newIdFor, promptFor, promptWords } from "../../agent/launch.ts";
import type { RunIdentity } from "../../agent/mcp.ts";
import { splitPrompt } from "../../agent/prompt-arguments.ts";
import { beginsCommand, contextPointer } from "../../workspace/context/context.ts";
import { checkDirectory, checkProgram, checkTools, type Plan } from "./plan.ts";
import { readableName } from "./readable-name.ts";
import { type Spec, writeLaunch, writeSessionFiles } from "./run-files.ts";

export interface Prepared {
  id: SessionId;
  attributes: SessionSpec;
  /** The first message of a conversation, sent once it runs. */
  prompt: string | null;
  /** True if the first run gets the prompt with its command. */
  prompted: boolean;
  /** `runs/1` of the new session. */
  directory: string;
  /** The id that the agent gets for its own conversation. */
  conversation: string | null;
  /** Identity of the first run; null if it is not started yet. */
  identity: RunIdentity | null;
}

export function prepare(
  request: SpawnRequest,
  context: {
    home: Home;
    plan: Plan;
    host: HostName;
    owner: Principal;
    parent: SessionId | null;
    /** The name of the parent. */
    parentName?: string | undefined;
    isTaken(name: string): boolean;
    holder?: Holder;
    workspace?: Spec["workspace"];
    forkedFrom?: Spec["forkedFrom"];
    /** Text about its groups for its first prompt. */
    introduce?(to: { name: string; agent: string; kind: SessionKind }): string | null;
  },
): Prepared {
  const { profile, kind, budget, env, program, args, chat, rule, isBackground } = context.plan;
  const name = nameOf(request, context.isTaken, context.holder);
  const cwd = checkDirectory(request.cwd);
  const isChat = request.chat;
  const prompt = firstPrompt(request, {
    cwd,
    parent: context.parentName,
    peers: context.introduce?.({ name, agent: profile.name, kind }) ?? null,
  });
  const command = [...program, ...args, ...(prompt === null || isChat ? [] : promptWords(profile, prompt))];
  const asked = { program, args, prompt, context: request.context };
  const { forkedFrom } = context;
  const forked = forkedFrom && forkedOf(forkedFrom, cwd);
  const conversation =
    isChat || !request.start ? null : conversationFor(profile, asked, { known: null, forked }, newIdFor(profile, cwd, randomUUID));
  checkProgram(command, { ...context.plan, cwd });
  checkTools(context.plan, cwd);

  const id = request.id ?? newSessionId();
  const directory = runDirectory(context.home, id, 1);
  const reports = context.parent !== null && (request.report ?? kind !== "shell");
  const attributes: SessionSpec = {
    ...ABSENT,
    ...requestedOf(request),
    name,
    kind,
    agent: profile.name,
    objective: request.objective ?? (request.prompt === undefined ? null : firstLineOf(request.prompt)),
    host: context.host,
    cwd,
    command,
    parent: context.parent,
    ...(budget ? { budget } : {}),
    ...(reports ? { report: true } : {}),
  };
  const prepared: Omit<Prepared, "identity"> = {
    id,
    attributes,
    prompt: isChat ? prompt : null,
    prompted: !isChat && (promptFor(prompt, conversation) !== null || splitPrompt(profile, args).said.length > 0),
    directory,
    conversation: conversationId(conversation),
  };
  try {
    const spec: Spec = {
      v: 1,
      id,
      ...attributes,
      ...(isChat ? { chat } : {}),
      ...(rule ? { tools: rule } : {}),
      ...(isBackground ? { background: true } : {}),
      umask: request.umask,
      owner: context.owner,
      createdAt: new Date().toISOString(),
      ...(request.groups?.length ? { groups: request.groups } : {}),
      ...(context.workspace ? { workspace: context.workspace } : {}),
      asked,
      ...(request.instructions === undefined ? {} : { instructions: request.instructions }),
      conversation: prepared.conversation,
      ...(forkedFrom ? { forkedFrom } : {}),
      ...(request.start ? {} : { start: false }),
    };
    writeSessionFiles(context.home, spec, env);
    if (!request.start) return { ...prepared, identity: null };
    const handed = { ...spec, asked: { ...asked, prompt: promptFor(prompt, conversation) } };
    const { identity } = writeLaunch(context.home, { session: id, run: 1 }, { spec: handed, env, profile, conversation });
    return { ...prepared, identity };
  } catch (cause) {
    forget(prepared, context.home);
    throw (
      knownCause(cause) ??
      whyUnwritable(context.home.path) ??
      new HoldfastError("home_unusable", `cannot write the session's files: ${(cause as Error).message}`, {
        hint: `check ${context.home.path}`,
        cause,
      })
    );
  }
}

/** The starting point of a fork's runs while the fork has had no turn of its own. */
export function forkedOf({ conversation, copy }: NonNullable<Spec["forkedFrom"]>, directory: string): Forked {
  return { from: conversation, copy, directory };
}

/** The prompt with notes on its groups and the Working Context; without the notes if the whole would be too long. */
function firstPrompt(
  { prompt, context, instructions, chat }: SpawnRequest,
  { cwd, peers, parent }: { cwd: string; peers: string | null; parent: string | undefined },
): string | null {
  if (prompt === undefined) return null;
  // In a conversation the prompt is a message from the parent, and gets its heading as all messages do.
  const words = chat || parent === undefined ? prompt : headed({ id: null, nonce: newNonce(), name: parent }, prompt);
  const asked = withNotes(words, [beginsCommand(prompt) ? null : peers, context ? contextPointer(cwd, prompt) : null]);
  const told = instructions === undefined ? asked : `${asked}\n\n${roleNote(instructions)}`;
  if (chat || isShortPrompt(told)) return told;
  throw new HoldfastError("usage", "the first prompt and the persona's instructions have more than 120,000 bytes", {
    hint: "shorten the persona, or send the prompt when the agent runs",
  });
}

/** The note that adds a role to the first prompt. */
export function roleNote(instructions: string): string {
  return `[Your role in this conversation, from now on:]\n${instructions}`;
}

function withNotes(prompt: string, notes: readonly (string | null)[]): string {
  const whole = [prompt, ...notes].filter((note) => note !== null).join("\n\n");
  return isShortPrompt(whole) ? whole : prompt;
}

/** Removes the files of a prepared session that is not started after all. */
export function forget({ id }: Pick<Prepared, "id">, home: Home): void {
  try {
    rmSync(join(home.sessions, id), { recursive: true, force: true });
  } catch {
    // Files that cannot be written cannot be removed either; report the first error.
  }
}

export function nameOf(request: SpawnRequest, isTaken: (name: string) => boolean, holder?: Holder): string {
  if (request.name === undefined) return readableName(isTaken);
  const name = checkName(request.name);
  if (isTaken(name)) throw nameTaken(name, holder?.(name)?.status);
  return name;
}

/** Finds the session that has the name. */
type Holder = (name: string) => { status: SessionStatus } | undefined;

export function nameTaken(name: string, status?: SessionStatus): HoldfastError {
  const isOver = status !== undefined && hasEnded(status);
  if (isOver)
    return new HoldfastError("name_taken", `an ended session has the name ${JSON.stringify(name)}`, {
      hint: `continue it: holdfast resume ${name}; remove it: holdfast rm ${name}; rename it: holdfast rename ${name} NEW-NAME`,
    });
  return new HoldfastError("name_taken", `there is a session named ${JSON.stringify(name)} already`, {
    hint: `choose another name, or rename that session: holdfast rename ${name} NEW-NAME`,
  });
}
