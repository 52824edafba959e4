/** A real terminal for a test: a pane of a private tmux server, separate from Holdfast's. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually } from "./home.ts";

export class Terminal implements Disposable {
  readonly #directory = mkdtempSync(path.join(tmpdir(), "hft-"));
  readonly #env: Record<string, string>;

  /** Opens a plain shell in the environment given. The prompt ends with "$ "; it may have colours. */
  constructor(options: {
    env: Record<string, string>;
    columns?: number;
    rows?: number;
    directory?: string;
    prompt?: string;
    term?: string;
  }) {
    this.#env = options.env;
    // Tests that write files into one directory would disturb each other.
    const place = ["-c", options.directory ?? options.env.HOME ?? this.#directory];
    const size = ["-x", String(options.columns ?? 100), "-y", String(options.rows ?? 30)];
    const shell = ["env", `PS1=${options.prompt ?? "$ "}`, ...(options.term ? [`TERM=${options.term}`] : []), "/bin/sh"];
    // Separate words: tmux would run a single string through another shell, which may hide the prompt.
    this.tmux("-f", "/dev/null", "new-session", "-d", "-s", "terminal", ...place, ...size, ...shell);
    this.tmux("set-option", "-g", "status", "off");
  }

  /** Returns this terminal after `work`; closes it if that fails. */
  async after(work: (terminal: this) => Promise<unknown>): Promise<this> {
    try {
      await work(this);
      return this;
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  tmux(...args: string[]): string {
    return execFileSync("tmux", ["-u", "-S", path.join(this.#directory, "sock"), ...args], { env: this.#env, encoding: "utf8" });
  }

  /** Types the text, then Enter. */
  line(text: string): void {
    this.tmux("send-keys", "-t", "terminal", "-l", text);
    this.keys("Enter");
  }

  /** Types a line once the shell shows its prompt: a running program would read it instead. */
  async command(text: string): Promise<void> {
    try {
      await eventually(() => this.asksForLine());
    } catch {
      throw new Error(`the shell never asked for a line; the screen shows:\n${this.screen()}`);
    }
    this.line(text);
  }

  /** Whether the shell is in the foreground and the cursor is behind its prompt. */
  asksForLine(): boolean {
    const [pid = "", x = "", y = ""] = this.tmux("display-message", "-p", "-t", "terminal", "#{pane_pid} #{cursor_x} #{cursor_y}")
      .trim()
      .split(" ");
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const foreground = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[5];
    const line = this.screen().split("\n")[Number(y)] ?? "";
    return foreground === pid && line.endsWith("$") && Number(x) === line.length + 1;
  }

  /** Keys by their tmux names: `Enter`, `C-c`, `C-\\`. */
  keys(...keys: string[]): void {
    this.tmux("send-keys", "-t", "terminal", ...keys);
  }

  screen(): string {
    return this.tmux("capture-pane", "-p", "-t", "terminal");
  }

  /** Waits until the screen shows the text; returns the screen. */
  async shows(text: string | RegExp): Promise<string> {
    try {
      return await eventually(() => {
        const screen = this.screen();
        return (typeof text === "string" ? screen.includes(text) : text.test(screen)) && screen;
      });
    } catch {
      throw new Error(`the screen never showed ${text}; it shows:\n${this.screen()}`);
    }
  }

  resize(columns: number, rows: number): void {
    this.tmux("resize-window", "-t", "terminal", "-x", String(columns), "-y", String(rows));
  }

  /** The pid of the terminal's shell, which gets the hangup when the terminal closes. */
  get shellPid(): number {
    return Number(this.tmux("display-message", "-p", "-t", "terminal", "#{pane_pid}"));
  }

  [Symbol.dispose](): void {
    try {
      this.tmux("kill-server");
    } catch {
      // The test closed it already.
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
