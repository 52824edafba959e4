/** A client of the scripted agent for tests: runs the agent as a process on real pipes or in this process, and records everything it sends. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough, Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  type ClientConnection,
  client,
  type InitializeResponse,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk/unstable";
import { serveAcp } from "./serve.ts";

const DEMO = fileURLToPath(new URL("../demo.ts", import.meta.url));

export interface Options {
  /** With a home, the agent runs in its own process; otherwise in this one. */
  home?: string;
  args?: string[];
  /** Capabilities of the client; everything by default. */
  can?: { fs?: boolean; terminal?: boolean };
}

/** The agent's input and output, its exit code, and a way to kill it. */
interface Agent {
  input: Writable;
  output: Readable;
  exited: Promise<number | null>;
  kill(): void;
}

export class TestClient implements AsyncDisposable {
  readonly updates: SessionUpdate[] = [];
  readonly asked: RequestPermissionRequest[] = [];
  /** Requests of the agent that were served, in order. */
  readonly served: { method: string; params: Record<string, unknown> }[] = [];
  answer: (request: RequestPermissionRequest) => RequestPermissionResponse | Promise<RequestPermissionResponse> = chosen("allow-once");
  readonly files = new Map<string, string>();
  terminal: { output: string; exit: Promise<{ exitCode: number }> } = { output: "hello\n", exit: Promise.resolve({ exitCode: 0 }) };
  readonly process: Agent;
  readonly connection: ClientConnection;
  initialized!: InitializeResponse;

  private constructor({ home, args = ["--fast"] }: Options) {
    this.process = home === undefined ? inThisOne(args) : inAnother(home, args);
    const { input, output } = this.process;
    this.connection = this.#app().connect(ndJsonStream(Writable.toWeb(input), Readable.toWeb(output) as ReadableStream<Uint8Array>));
  }

  static async start(options: Options): Promise<TestClient> {
    const started = new TestClient(options);
    const { fs = true, terminal = true } = options.can ?? {};
    started.initialized = await started.agent.request("initialize", {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: fs, writeTextFile: fs }, terminal },
    });
    return started;
  }

  get agent() {
    return this.connection.agent;
  }

  async open(cwd = "/project"): Promise<string> {
    return (await this.agent.request("session/new", { cwd, mcpServers: [] })).sessionId;
  }

  async prompt(sessionId: string, text: string) {
    return this.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** The agent's text, its thoughts, or the user's text. */
  text(kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk" = "agent_message_chunk"): string {
    return this.updates
      .flatMap((update) => (update.sessionUpdate === kind && update.content.type === "text" ? [update.content.text] : []))
      .join("");
  }

  of<Kind extends SessionUpdate["sessionUpdate"]>(kind: Kind): Extract<SessionUpdate, { sessionUpdate: Kind }>[] {
    return this.updates.filter((update): update is Extract<SessionUpdate, { sessionUpdate: Kind }> => update.sessionUpdate === kind);
  }

  /** Clears all records and allows everything, for the next test with the same process. */
  reset(): void {
    this.updates.length = 0;
    this.asked.length = 0;
    this.served.length = 0;
    this.files.clear();
    this.answer = chosen("allow-once");
    this.terminal = { output: "hello\n", exit: Promise.resolve({ exitCode: 0 }) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill();
    await this.process.exited;
  }

  #app() {
    const serve = <T>(method: string, params: unknown, result: T): T => {
      this.served.push({ method, params: params as Record<string, unknown> });
      return result;
    };
    return client({ name: "test" })
      .onNotification("session/update", ({ params }) => void this.updates.push(params.update))
      .onRequest("session/request_permission", ({ params }) => {
        this.asked.push(params);
        return this.answer(params);
      })
      .onRequest("fs/read_text_file", ({ params }) => {
        const content = this.files.get(params.path);
        if (content === undefined) throw new Error(`there is no ${params.path}`);
        return serve("read", params, { content });
      })
      .onRequest("fs/write_text_file", ({ params }) => {
        this.files.set(params.path, params.content);
        return serve("write", params, {});
      })
      .onRequest("terminal/create", ({ params }) => serve("create", params, { terminalId: "t1" }))
      .onRequest("terminal/wait_for_exit", ({ params }) => serve("wait", params, this.terminal.exit))
      .onRequest("terminal/output", ({ params }) => serve("output", params, { output: this.terminal.output, truncated: false }))
      .onRequest("terminal/kill", ({ params }) => serve("kill", params, {}))
      .onRequest("terminal/release", ({ params }) => serve("release", params, {}));
  }
}

function inThisOne(args: readonly string[]): Agent {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const { promise: exited, resolve } = Promise.withResolvers<number>();
  const exit = (code: number) => {
    output.end();
    resolve(code);
  };
  void serveAcp({ input, output, exit, fast: args.includes("--fast"), lateHistory: args.includes("--late-history") });
  return { input, output, exited, kill: () => input.end() };
}

function inAnother(home: string, args: readonly string[]): Agent {
  const env = { PATH: process.env.PATH ?? "", HOME: home };
  const child = spawn(process.execPath, [DEMO, "--acp", ...args], { env, stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "close").then(([code]) => code as number | null);
  return { input: child.stdin, output: child.stdout, exited, kill: () => void child.kill("SIGKILL") };
}

export function chosen(optionId: string): () => RequestPermissionResponse {
  return () => ({ outcome: { outcome: "selected", optionId } });
}
