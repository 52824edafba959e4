/** The run's program as an agent that speaks the Agent Client Protocol on its standard input and output. Its standard error is recorded. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { constants } from "node:os";
import { dirname } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type {
  AgentCapabilities,
  CreateTerminalRequest,
  InitializeResponse,
  LoadSessionResponse,
  McpServer,
  NewSessionResponse,
  ReadTextFileRequest,
  RequestPermissionRequest,
  RequestPermissionResponse,
  ResumeSessionResponse,
  SessionUpdate,
  SetSessionConfigOptionResponse,
  WriteTextFileRequest,
} from "@agentclientprotocol/sdk";
import { REASON, STEER } from "@holdfast/contract/agent/order";
import type { ConversationOrder } from "@holdfast/contract/conversation/holder";
import { VERSION } from "@holdfast/contract/version";
import { writeFileAtomic } from "@holdfast/platform/files";
import { umaskIn } from "@holdfast/platform/git/command";
import { calm } from "../calm.ts";
import { inside, insideToWrite } from "../inside.ts";
import type { ProgramExit } from "../keeper.ts";
import { Connection, UnknownMethod } from "./connection.ts";
import type { Offered, Setter } from "./settings.ts";
import { Terminals } from "./terminals.ts";
import { fields } from "./told.ts";

/** A loaded conversation may still be replayed after the response. The replay counts as complete once no update has arrived for this long. */
const REPLAYED_MS = 250;
const REPLAY_MS = 5000;

/** A longer file would fit neither into one message nor into a keeper. */
const LONGEST_FILE = 16 * 1024 * 1024;

/** The default of any program. */
const NEW_FILE_MODE = 0o666;

/** Version of the Agent Client Protocol. */
const PROTOCOL_VERSION = 1;

export interface AgentListener {
  onUpdate(update: SessionUpdate): void;
  onAsk(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  /** Output of a terminal that the agent requested. */
  onPrinted(terminal: string, text: string): void;
  onError(bytes: Uint8Array): void;
  /** The agent sent something invalid. */
  onNonsense(error: unknown): void;
  onExit(exit: ProgramExit): void;
}

interface Place {
  cwd: string;
  mcpServers: McpServer[];
  _meta?: Record<string, unknown>;
}

export interface Opened extends Offered {
  conversation: string;
  /** The agent has the earlier conversation. */
  remembers: boolean;
}

export class Agent {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #connection: Connection;
  readonly #workspace: string;
  readonly terminals: Terminals;
  #session = "";
  #can: AgentCapabilities = {};
  #lastUpdate = 0;

  constructor(options: { launch: string; cwd: string; listener: AgentListener }) {
    const { launch, cwd, listener } = options;
    this.#workspace = cwd;
    this.terminals = new Terminals({ workspace: cwd, launch, onPrinted: (id, text) => listener.onPrinted(id, text) });
    this.#child = spawn("/bin/sh", ["-c", `. "$0"`, launch], { cwd: "/", detached: true, stdio: ["pipe", "pipe", "pipe"] });
    // A failed start causes both an error and an end.
    let isOver = false;
    const over = (exit: ProgramExit) => {
      if (isOver) return;
      isOver = true;
      this.terminals.endAll();
      listener.onExit(exit);
    };
    this.#child.on("error", () => over({ code: 127, signal: 0 }));
    this.#child.stderr.on("data", (bytes: Buffer) => listener.onError(bytes));
    onEnd(this.#child, over);
    const peer = {
      onRequest: (method: string, params: unknown) => this.#serve(method, { params, listener }),
      onNotification: (method: string, params: unknown) => this.#told(method, { params, listener }),
      onNonsense: (error: unknown) => listener.onNonsense(error),
    };
    this.#connection = new Connection({ input: this.#child.stdout, output: this.#child.stdin, peer });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get conversation(): string {
    return this.#session;
  }

  /** The agent has closed its output, or has ended. */
  get isSilent(): boolean {
    return this.#connection.closed;
  }

  /** Whether the agent accepts text while a turn runs. */
  get steers(): boolean {
    return this.#announces(STEER);
  }

  /** Whether the agent's model reads the reason of a denial. */
  get takesReasons(): boolean {
    return this.#announces(REASON);
  }

  #announces(name: string): boolean {
    return (this.#can._meta as Record<string, unknown> | null | undefined)?.[name] === true;
  }

  kill(): void {
    // Pid 0 would mean this process and its whole group.
    if (this.pid === 0) return;
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // The agent has already ended.
    }
  }

  /** Continues the conversation, or begins one. */
  async open({ conversation, isEmpty, ...order }: ConversationOrder): Promise<Opened> {
    const answer = await this.#connection.request<InitializeResponse>("initialize", {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: "holdfast", title: "Holdfast", version: VERSION },
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true, session: { notices: {} } },
    });
    this.#can = fields(fields(answer).agentCapabilities) as AgentCapabilities;
    const at = placeOf(order);
    if (conversation === null || (isEmpty && this.#goesOn)) return this.#begin(at);
    if (this.#can.sessionCapabilities?.resume) {
      const offered = await this.#connection.request<ResumeSessionResponse | null>("session/resume", { sessionId: conversation, ...at });
      this.#session = conversation;
      return { ...offered, conversation, remembers: true };
    }
    if (this.#can.loadSession) {
      const offered = await this.#connection.request<LoadSessionResponse | null>("session/load", { sessionId: conversation, ...at });
      await this.#replayed();
      this.#session = conversation;
      return { ...offered, conversation, remembers: true };
    }
    return { ...(await this.#begin(at)), remembers: false };
  }

  /** Whether the agent can continue a conversation itself. */
  get #goesOn(): boolean {
    return Boolean(this.#can.sessionCapabilities?.resume || this.#can.loadSession);
  }

  /** Begins a new conversation next to the previous one. */
  async #begin(at: Place): Promise<Opened> {
    const { sessionId, ...offered } = fields(await this.#connection.request<NewSessionResponse>("session/new", at));
    if (typeof sessionId !== "string" || sessionId === "") throw new Error("the agent began a conversation without an id (no sessionId)");
    this.#session = sessionId;
    return { ...offered, conversation: sessionId, remembers: true };
  }

  clear(order: ConversationOrder): Promise<Opened> {
    return this.#begin(placeOf(order));
  }

  prompt(text: string): Promise<unknown> {
    return this.#connection.request("session/prompt", { sessionId: this.#session, prompt: [{ type: "text", text }] });
  }

  cancel(): void {
    this.#connection.notify("session/cancel", { sessionId: this.#session });
  }

  /** Whether the agent took the text. `onTaken` is called before any later update of the agent is handled. */
  async steer(text: string, onTaken: () => void): Promise<boolean> {
    const asked = this.#connection.request(STEER, { sessionId: this.#session, text }, onTaken);
    return asked.then(
      () => true,
      () => false,
    );
  }

  async set(how: Setter, value: string): Promise<Offered> {
    const sessionId = this.#session;
    if (how.method === "option") {
      const params = { sessionId, configId: how.id, value };
      return fields(await this.#connection.request<SetSessionConfigOptionResponse>("session/set_config_option", params));
    }
    if (how.method === "mode") await this.#connection.request("session/set_mode", { sessionId, modeId: value });
    else await this.#connection.request("session/set_model", { sessionId, modelId: value });
    return {};
  }

  #told(method: string, { params, listener }: { params: unknown; listener: AgentListener }): void {
    if (method !== "session/update") return;
    const { sessionId, update } = fields(params);
    this.#lastUpdate = performance.now();
    // Updates of another conversation, or before there is one, are a replay.
    if (sessionId === this.#session) listener.onUpdate(fields(update) as SessionUpdate);
  }

  #serve(method: string, { params, listener }: { params: unknown; listener: AgentListener }): unknown {
    const { terminalId } = fields(params) as { terminalId: string };
    switch (method) {
      case "session/request_permission":
        return listener.onAsk(params as RequestPermissionRequest);
      case "fs/read_text_file":
        return this.#read(params as ReadTextFileRequest);
      case "fs/write_text_file":
        return this.#write(params as WriteTextFileRequest);
      case "terminal/create":
        return this.terminals.create(params as CreateTerminalRequest);
      case "terminal/output":
        return this.terminals.output(terminalId);
      case "terminal/wait_for_exit":
        return this.terminals.waitForExit(terminalId);
      case "terminal/kill":
        return this.terminals.kill(terminalId);
      case "terminal/release":
        return this.terminals.release(terminalId);
      default:
        throw new UnknownMethod(`${method} is not supported`);
    }
  }

  #read({ path, line, limit }: ReadTextFileRequest): { content: string } {
    const file = inside(this.#workspace, path);
    const { size } = regular(file, path) ?? { size: 0 };
    if (size > LONGEST_FILE) throw new Error(`${path} is too large to return as a whole: ${size} bytes`);
    const text = readFileSync(file, "utf8");
    if (line == null && limit == null) return { content: text };
    const from = Math.max(0, (line ?? 1) - 1);
    const lines = text.split("\n");
    return { content: lines.slice(from, limit == null ? undefined : from + limit).join("\n") };
  }

  #write({ path, content }: WriteTextFileRequest): void {
    if (typeof content !== "string") throw new Error("the content to write is not a text");
    const file = insideToWrite(this.#workspace, path);
    const mode = regular(file, path)?.mode;
    // Written atomically: a full disk must not destroy the user's existing file.
    const umask = umaskIn(this.#workspace);
    makeParents(file, 0o777 & ~umask);
    writeFileAtomic(file, content);
    chmodSync(file, mode === undefined ? NEW_FILE_MODE & ~umask : mode & 0o7777);
  }

  async #replayed(): Promise<void> {
    const until = performance.now() + REPLAY_MS;
    while (performance.now() < until && performance.now() - this.#lastUpdate < REPLAYED_MS) await delay(20);
  }
}

/** Processes that the agent started may hold its pipes open after its end. */
function onEnd(child: ChildProcessByStdio<Writable, Readable, Readable>, over: (exit: ProgramExit) => void): void {
  const { stdout, stderr } = child;
  let bytes = 0;
  for (const stream of [stdout, stderr])
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
  child.on("exit", async () => {
    await calm({ read: () => bytes, isOver: () => stdout.closed && stderr.closed });
    stdout.destroy();
    stderr.destroy();
  });
  child.on("close", (code, signal) => over({ code: code ?? 0, signal: signal ? constants.signals[signal] : 0 }));
}

/** The umask of this process would make the directories private. */
function makeParents(file: string, mode: number): void {
  const parent = dirname(file);
  if (existsSync(parent)) return;
  makeParents(parent, mode);
  mkdirSync(parent);
  chmodSync(parent, mode);
}

/** Undefined: the file does not exist. Anything but a regular file is refused, because reading or writing a pipe may never end. */
function regular(file: string, path: string): Stats | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw new Error(`${path} is not a file`);
  return found;
}

function placeOf({ cwd, mcpServers, meta }: Pick<ConversationOrder, "cwd" | "mcpServers" | "meta">): Place {
  return { cwd, mcpServers: mcpServers.map(asAgentWants), ...(meta ? { _meta: { ...meta } } : {}) };
}

function asAgentWants({ name, command: [command = "", ...args], env }: ConversationOrder["mcpServers"][number]): McpServer {
  return { name, command, args, env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })) };
}
