/** A minimal client of the protocol for tests of our agents: in the same process, or over pipes to a real one. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  type ClientConnection,
  client,
  type McpServer,
  ndJsonStream,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { TRANSCRIPTS } from "@holdfast/contract/agent/order";
import type { Entry, EntryDraft } from "@holdfast/contract/conversation/transcript";
import { appOf, type Kind } from "../src/agents/serve.ts";

type Update<T extends SessionUpdate["sessionUpdate"]> = Extract<SessionUpdate, { sessionUpdate: T }>;

export class Talk implements AsyncDisposable {
  readonly updates: SessionUpdate[] = [];
  readonly asked: RequestPermissionRequest[] = [];
  /** The person's answer; by default there is none. */
  answer: (request: RequestPermissionRequest) => RequestPermissionResponse | Promise<RequestPermissionResponse> = () =>
    new Promise(() => {});
  id = "";
  readonly connection: ClientConnection;
  readonly child: ChildProcess | undefined;
  readonly #end: () => Promise<void>;
  #waiting: (() => void)[] = [];

  constructor(connect: (app: ReturnType<typeof client>) => ClientConnection, end: () => Promise<void>, child?: ChildProcess) {
    this.#end = end;
    this.child = child;
    this.connection = connect(
      client({ name: "test" })
        .onNotification("session/update", ({ params }) => {
          this.updates.push(params.update);
          for (const wake of this.#waiting.splice(0)) wake();
        })
        .onRequest("session/request_permission", ({ params }) => {
          this.asked.push(params);
          for (const wake of this.#waiting.splice(0)) wake();
          return this.answer(params);
        }),
    );
  }

  async initialize(session: object = { notices: {} }) {
    return this.connection.agent.request("initialize", { protocolVersion: 1, clientCapabilities: { session } });
  }

  async begin(cwd: string, mcpServers: McpServer[] = []) {
    const response = await this.connection.agent.request("session/new", { cwd, mcpServers });
    this.id = response.sessionId;
    return response;
  }

  async resume(cwd: string, sessionId: string) {
    this.id = sessionId;
    return this.connection.agent.request("session/resume", { cwd, sessionId });
  }

  prompt(text: string): Promise<PromptResponse & { usage?: Record<string, number> }> {
    return this.connection.agent.request("session/prompt", { sessionId: this.id, prompt: [{ type: "text", text }] });
  }

  cancel(): Promise<void> {
    return this.connection.agent.notify("session/cancel", { sessionId: this.id });
  }

  of<T extends SessionUpdate["sessionUpdate"]>(type: T): Update<T>[] {
    return this.updates.filter((update): update is Update<T> => update.sessionUpdate === type);
  }

  /** The agent's text, without thoughts and notices. */
  get said(): string {
    return this.of("agent_message_chunk")
      .map(({ content }) => (content.type === "text" ? content.text : ""))
      .join("");
  }

  get notices(): string[] {
    return this.of("notice").map(({ title }) => title);
  }

  forget(): void {
    this.updates.length = 0;
  }

  /** Resolves once an update makes the condition true. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.connection.close();
    await this.#end();
  }
}

interface With {
  order?: string;
  runs?: string;
}

/** Connects to an agent in this process. */
export function talkTo(kind: Kind, { order = "order.json", runs }: With = {}): Talk {
  const { app, end } = appOf(kind, { order, runs });
  return new Talk((mine) => mine.connect(app), end);
}

/** Connects to the program itself, as the holder runs it. */
export function talkOver(
  program: string,
  order: string,
  { env = {}, runs, cwd }: { env?: Record<string, string>; runs?: string; cwd: string },
): Talk {
  const child = spawn(process.execPath, [program, order], {
    cwd,
    env: { ...process.env, ...env, ...(runs === undefined ? {} : { [TRANSCRIPTS]: runs }) },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>);
  const end = async () => {
    child.stdin.end();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  };
  return new Talk((mine) => mine.connect(stream), end, child);
}

/** A temporary directory that is removed with the test. */
export function directory(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "holdfast-agent-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Writes a run's transcript as the holder does, from the given entries. */
export function writeTranscript(runs: string, run: number, drafts: readonly EntryDraft[], torn = ""): void {
  const folder = join(runs, String(run));
  mkdirSync(folder, { recursive: true });
  let turn: string | null = null;
  const lines = drafts.map((draft, at) => {
    if (draft.type === "user") turn = draft.message;
    const entry = { v: 1, n: at + 1, at: "2026-11-15T12:00:00.000Z", turn, ...draft } as Entry;
    return `${JSON.stringify(entry)}\n`;
  });
  writeFileSync(join(folder, "transcript.jsonl"), lines.join("") + torn);
}

export function turn(
  prompt: string,
  answer: string,
  reason: Extract<EntryDraft, { type: "turn_ended" }>["reason"] = "completed",
): EntryDraft[] {
  const said: EntryDraft[] = answer === "" ? [] : [{ type: "text", text: answer }];
  return [user(prompt), ...said, { type: "turn_ended", reason }];
}

export function user(text: string, more: { steer?: boolean; addition?: string } = {}): EntryDraft {
  const from = "user:somebody" as Extract<EntryDraft, { type: "user" }>["from"];
  return { type: "user", message: `m-${text}`, from, text, addition: more.addition ?? null, steer: more.steer ?? false };
}
