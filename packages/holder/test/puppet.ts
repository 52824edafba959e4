/** For tests: a conversation with a real process behind real pipes, whose messages the test decides. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConversationOrder } from "@holdfast/contract/conversation/holder";
import { type Entry, type EntryType, parseEntry } from "@holdfast/contract/conversation/transcript";
import type { Principal } from "@holdfast/contract/ids";
import { Agent } from "../src/conversation/agent.ts";
import { Conversation } from "../src/conversation/conversation.ts";
import type { Recalled } from "../src/conversation/recall.ts";
import { Transcript } from "../src/conversation/transcript.ts";
import type { ProgramExit } from "../src/keeper.ts";

/** Connects its input and output to a socket. */
const PIPES =
  "const s=require('net').connect(process.argv[1]);s.pipe(process.stdout);process.stdin.pipe(s);s.on('close',()=>process.exit(0)).on('error',()=>{})";

export interface Heard {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string };
}

export interface Options {
  order?: Partial<ConversationOrder>;
  recall?(words: string): Promise<Recalled>;
  /** A program to run instead of one that the test controls. */
  program?: string;
}

export class Puppet implements AsyncDisposable {
  /** The real path of a directory with the run's directory, `run`, and the workspace, `project`. */
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "hf-pup-")));
  readonly project = join(this.root, "project");
  readonly run = join(this.root, "run");
  readonly nonsense: unknown[] = [];
  readonly errors: string[] = [];
  readonly exits: ProgramExit[] = [];
  readonly transcript: Transcript;
  readonly agent: Agent;
  readonly conversation: Conversation;
  readonly #server: Server;
  readonly #heard: Heard[] = [];
  #socket: Socket | undefined;
  #wake: (() => void)[] = [];
  #asked = 0;
  #messages = 0;

  constructor({ order = {}, recall = async (words) => ({ words, leftOut: null }), program }: Options = {}) {
    mkdirSync(this.project);
    mkdirSync(this.run);
    const pipes = join(this.root, "pipes");
    this.#server = createServer((socket) => this.#open(socket)).listen(pipes);
    const launch = join(this.run, "launch");
    const becomes = program ?? `exec '${process.execPath}' -e "${PIPES}" '${pipes}'`;
    writeFileSync(
      launch,
      [
        `cd '${this.project}'`,
        "export OF_THE_SESSION=yes",
        'if [ -n "$HOLDFAST_BECOME" ]; then unset HOLDFAST_BECOME; exec "$@"; fi',
        becomes,
        "",
      ].join("\n"),
    );
    this.transcript = new Transcript(this.run);
    this.agent = new Agent({
      launch,
      cwd: this.project,
      listener: {
        onUpdate: (update) => this.conversation.hear(update),
        onAsk: (request) => this.conversation.ask(request),
        onPrinted: (terminal, text) => this.conversation.printed(terminal, text),
        onError: (bytes) => void this.errors.push(Buffer.from(bytes).toString()),
        onNonsense: (error) => void this.nonsense.push(error),
        onExit: (exit) => {
          this.exits.push(exit);
          this.conversation.end("the agent ended");
          this.#changed();
        },
      },
    });
    const whole = { cwd: this.project, conversation: null, mode: null, model: null, mcpServers: [], ...order };
    this.conversation = new Conversation({ order: whole, transcript: this.transcript, agent: this.agent, recall });
  }

  /** An agent that has begun the conversation `c1`. */
  static async ready(options: Options & { offers?: object; can?: object } = {}): Promise<Puppet> {
    const puppet = new Puppet(options);
    await puppet.answer("initialize", { protocolVersion: 1, agentCapabilities: options.can ?? {} });
    await puppet.answer("session/new", { sessionId: "c1", ...options.offers });
    await puppet.until(() => puppet.of("note").some(({ about }) => about === "opened"));
    return puppet;
  }

  say(message: unknown): void {
    this.raw(`${JSON.stringify(message)}\n`);
  }

  raw(text: string | Uint8Array): void {
    this.#socket?.write(text);
  }

  update(update: object): void {
    this.say({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "c1", update } });
  }

  /** Sends a request as the agent, and returns the keeper's response. */
  async ask(method: string, params: unknown): Promise<Heard> {
    const id = 1000 + ++this.#asked;
    this.say({ jsonrpc: "2.0", id, method, params });
    return this.heard((message) => message.id === id && message.method === undefined);
  }

  /** Resolves when everything sent before has been handled. */
  async settled(): Promise<void> {
    await this.ask("_settled", {});
  }

  /** The next request of that method. */
  request(method: string): Promise<Heard> {
    return this.heard((message) => message.method === method);
  }

  async answer(method: string, result: unknown): Promise<Heard> {
    const request = await this.request(method);
    this.say({ jsonrpc: "2.0", id: request.id, result });
    return request;
  }

  async fail(method: string, error: unknown): Promise<void> {
    const { id } = await this.request(method);
    this.say({ jsonrpc: "2.0", id, error });
  }

  async heard(isIt: (message: Heard) => boolean): Promise<Heard> {
    await this.until(() => this.#heard.some(isIt));
    return this.#heard.splice(this.#heard.findIndex(isIt), 1)[0] as Heard;
  }

  async prompt(words: string, { steer = false, patient = false, message = `m${++this.#messages}` } = {}): Promise<string> {
    const from = "user:tester" as Principal;
    await this.conversation.prompt({ t: "prompt", id: 1, message, from, text: words, addition: null, words, steer, patient });
    return message;
  }

  /** A prompted turn that is running. */
  async turn(words = "begin"): Promise<{ end(result?: unknown): Promise<void>; message: string }> {
    const message = await this.prompt(words);
    const { id } = await this.request("session/prompt");
    return {
      message,
      end: async (result = { stopReason: "end_turn" }) => {
        const before = this.of("turn_ended").length;
        this.say({ jsonrpc: "2.0", id, result });
        await this.until(() => this.of("turn_ended").length > before);
      },
    };
  }

  /** Closes the agent's output, which ends it. */
  hangUp(): void {
    this.#socket?.end();
  }

  get entries(): (Entry | "unknown" | "damaged")[] {
    return readFileSync(join(this.run, "transcript.jsonl"), "utf8").split("\n").filter(Boolean).map(parseEntry);
  }

  of<T extends EntryType>(type: T): Extract<Entry, { type: T }>[] {
    return this.entries.filter((entry): entry is Extract<Entry, { type: T }> => typeof entry === "object" && entry.type === type);
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      // Entries are written a moment after the message that causes them.
      const moment = setTimeout(() => this.#changed(), 5);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
      clearTimeout(moment);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.agent.kill();
    await this.until(() => this.exits.length > 0);
    this.#server.close();
    this.#socket?.destroy();
    this.transcript[Symbol.dispose]();
    rmSync(this.root, { recursive: true, force: true });
  }

  #open(socket: Socket): void {
    this.#socket = socket.on("error", () => {});
    let rest = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#heard.push(JSON.parse(line) as Heard);
      this.#changed();
    });
    this.#changed();
  }

  #changed(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
