import { spawn } from "node:child_process";

export type Decision = {
  behavior: "allow" | "deny";
  message?: string;
  /** The answers to questions, by question. */
  updatedInput?: { answers?: Record<string, string> };
};

export type HookOptions = { command: string | undefined; askCommand: string | undefined; conversation: string };

/**
 * Reports the agent's actions to a command of the user, as coding agents do: a JSON payload on its standard input. The agent continues when the
 * command has ended, whatever its result.
 */
export class Hooks {
  readonly #options: HookOptions;

  constructor(options: HookOptions) {
    this.#options = options;
  }

  async tell(event: string, fields: Record<string, unknown> = {}): Promise<void> {
    await this.#run(this.#options.command, event, fields);
  }

  /** Undefined if there is no hook or it decided nothing. */
  async ask(fields: Record<string, unknown>): Promise<Decision | undefined> {
    const event = "PermissionRequest";
    const said = await this.#run(this.#options.askCommand ?? this.#options.command, event, fields);
    try {
      const { hookEventName, decision } = JSON.parse(said).hookSpecificOutput;
      return hookEventName === event && /^(allow|deny)$/.test(decision.behavior) ? decision : undefined;
    } catch {
      return undefined;
    }
  }

  /** Returns the command's output. */
  #run(command: string | undefined, event: string, fields: Record<string, unknown>): Promise<string> {
    if (command === undefined) return Promise.resolve("");
    const payload = { hook_event_name: event, session_id: this.#options.conversation, cwd: process.cwd(), ...fields };
    const child = spawn("sh", ["-c", command], { stdio: ["pipe", "pipe", "ignore"] });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(payload));
    return new Promise((resolve) => {
      child.on("error", () => resolve(""));
      child.on("close", () => resolve(said));
    });
  }
}
