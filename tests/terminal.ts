/** A real terminal for a test: a pane of a private tmux server that has nothing to do with Holdfast's own. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually } from "./home.ts";

export class Terminal implements Disposable {
  readonly #directory = mkdtempSync(path.join(tmpdir(), "hft-"));
  readonly #env: Record<string, string>;

  /** Opens with a plain shell, in the environment given. */
  constructor(options: { env: Record<string, string>; columns?: number; rows?: number }) {
    this.#env = options.env;
    // What is written there must not meet what another test writes.
    const place = ["-c", options.env.HOME ?? this.#directory];
    const size = ["-x", String(options.columns ?? 100), "-y", String(options.rows ?? 30)];
    // In words of its own: a shell that is given the line may keep the prompt from it, or stay in between.
    this.tmux("-f", "/dev/null", "new-session", "-d", "-s", "terminal", ...place, ...size, "env", "PS1=$ ", "/bin/sh");
    this.tmux("set-option", "-g", "status", "off");
  }

  /** Itself, once something was done on it; closed where that fails. */
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

  /** Types a line for the shell once it asks for one: what is typed while a program still runs is that program's. */
  async command(text: string): Promise<void> {
    try {
      await eventually(() => this.#asks());
    } catch {
      throw new Error(`the shell never asked for a line; the screen shows:\n${this.screen()}`);
    }
    this.line(text);
  }

  /** Whether the shell has the terminal and the cursor stands behind its prompt. */
  #asks(): boolean {
    const [pid = "", x = "", y = ""] = this.tmux("display-message", "-p", "-t", "terminal", "#{pane_pid} #{cursor_x} #{cursor_y}")
      .trim()
      .split(" ");
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const foreground = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[5];
    const line = this.screen().split("\n")[Number(y)] ?? "";
    return foreground === pid && line.endsWith("$") && Number(x) === line.length + 1;
  }

  /** Keys by tmux's names: `Enter`, `C-c`, `C-\\`. */
  keys(...keys: string[]): void {
    this.tmux("send-keys", "-t", "terminal", ...keys);
  }

  screen(): string {
    return this.tmux("capture-pane", "-p", "-t", "terminal");
  }

  /** Waits until the screen shows the text; what it shows then. */
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

  /** The pid of the terminal's shell: what a closed terminal hangs up on. */
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
