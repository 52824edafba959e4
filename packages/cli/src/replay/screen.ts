/**
 * The terminal of a replay: the alternate screen and raw keys. Restored however the replay ends: by a key, a signal, an error or a suspension.
 * (After kill -9 it is not; run `reset`.)
 */
const ENTER = "\x1b[?1049h\x1b[0m\x1b[2J\x1b[H";
const LEAVE = "\x1b[0m\x1b[?2026l\x1b[?25h\x1b[?1049l";

const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** A signal to this process arrives within this time. */
const STOPPED_MS = 50;

export interface Watcher {
  onKeys(keys: string): void;
  /** The size changed, or the screen's content is gone. */
  onResize(): void;
  /** A signal asks the replay to end. */
  onEnd(signal: NodeJS.Signals): void;
}

export class WatchedScreen implements Disposable {
  readonly #watcher: Watcher;
  #entered = false;
  #disposed = false;

  constructor(watcher: Watcher) {
    this.#watcher = watcher;
    process.stdin.on("data", this.#onData);
    process.stdout.on("resize", this.#onResize);
    process.on("exit", this.#leave);
    process.on("SIGCONT", this.#onContinue);
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
    this.#enter();
  }

  get size(): { columns: number; rows: number } {
    return { columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 };
  }

  /** False while the terminal lags or is suspended. */
  get ready(): boolean {
    return this.#entered && !process.stdout.writableNeedDrain;
  }

  write(text: string): void {
    process.stdout.write(text);
  }

  /** Suspends like Ctrl+Z: the terminal is released until the process continues. */
  suspend(): void {
    this.#leave();
    process.kill(process.pid, "SIGTSTP");
    // Without a shell that could continue the process, the kernel does not stop it.
    setTimeout(() => this.#entered || this.#disposed || this.#onContinue(), STOPPED_MS).unref();
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#leave();
    process.stdin.off("data", this.#onData).pause();
    process.stdout.off("resize", this.#onResize);
    process.off("exit", this.#leave);
    process.off("SIGCONT", this.#onContinue);
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }

  readonly #onData = (data: Buffer) => this.#watcher.onKeys(data.toString("latin1"));
  readonly #onResize = () => this.#watcher.onResize();
  readonly #onSignal = (signal: NodeJS.Signals) => this.#watcher.onEnd(signal);
  readonly #onContinue = () => {
    this.#entered = false;
    this.#enter();
    this.#watcher.onResize();
  };

  #enter(): void {
    this.#entered = true;
    process.stdin.setRawMode(true);
    process.stdin.resume();
    process.stdout.write(ENTER);
  }

  readonly #leave = () => {
    if (!this.#entered) return;
    this.#entered = false;
    process.stdout.write(LEAVE);
    process.stdin.setRawMode(false);
  };
}
