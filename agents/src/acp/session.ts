import {
  type PromptResponse,
  RequestError,
  type SessionConfigOption,
  type SessionConfigSelectOption,
  type SessionModeState,
} from "@agentclientprotocol/sdk/unstable";
import { Memory } from "../demo/memory.ts";

const MODES = [
  { id: "ask", name: "Ask", description: "asks before it uses a tool" },
  { id: "auto", name: "Auto", description: "uses tools without asking" },
];

const MODELS: SessionConfigSelectOption[] = [
  { value: "demo-small", name: "Demo small" },
  { value: "demo-large", name: "Demo large" },
];

/** One conversation in this process: its settings and the current turn. */
export class Session {
  readonly id: string;
  readonly cwd: string;
  /** Names of the given MCP servers; the demo agent starts none. */
  readonly servers: readonly string[];
  readonly clientCan: { read: boolean; write: boolean; terminal: boolean };
  /** The process that serves the session. */
  readonly serving: { fast: boolean; output: { write(text: string): unknown }; exit(code: number): void };
  readonly memory: Memory;
  /** Tools that were allowed for the rest of the session. */
  readonly always = new Set<string>();
  #mode = "ask";
  #model = "demo-small";
  #calls = 0;
  #turn: AbortController | undefined;

  constructor({ id, cwd, servers, clientCan, serving }: Pick<Session, "id" | "cwd" | "servers" | "clientCan" | "serving">) {
    this.id = id;
    this.cwd = cwd;
    this.servers = servers;
    this.clientCan = clientCan;
    this.serving = serving;
    this.memory = new Memory(id);
  }

  get fast(): boolean {
    return this.serving.fast;
  }

  get mode(): string {
    return this.#mode;
  }

  get model(): string {
    return this.#model;
  }

  state(): { modes: SessionModeState; configOptions: SessionConfigOption[] } {
    return {
      modes: { currentModeId: this.#mode, availableModes: MODES },
      configOptions: [{ type: "select", id: "model", name: "Model", category: "model", currentValue: this.#model, options: MODELS }],
    };
  }

  setMode(id: string): void {
    if (!MODES.some((mode) => mode.id === id)) throw RequestError.invalidParams({ modeId: id }, `no mode ${id}: there are ask, auto`);
    this.#mode = id;
  }

  setOption(id: string, value: unknown): void {
    const known = id === "model" && MODELS.find((model) => model.value === value);
    if (!known) throw RequestError.invalidParams({ configId: id, value }, `no option ${id} with this value`);
    this.#model = known.value;
  }

  /** Only one turn at a time; a second prompt is an error of the client. */
  async turn(play: (signal: AbortSignal) => Promise<PromptResponse>): Promise<PromptResponse> {
    if (this.#turn !== undefined) throw RequestError.invalidRequest({ sessionId: this.id }, "a turn is under way");
    this.#turn = new AbortController();
    try {
      return await play(this.#turn.signal);
    } finally {
      this.#turn = undefined;
    }
  }

  cancel(): void {
    this.#turn?.abort();
  }

  /** Unique within the conversation, also after it was loaded. */
  callId(): string {
    this.#calls++;
    return `call-${Date.now().toString(36)}-${this.#calls}`;
  }
}
