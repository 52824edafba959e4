/** A home on a machine that is started anew: in a mount namespace where the kernel names another boot. Needs root. */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type CliOptions, eventually, HOLDFAST, TestHome } from "./home.ts";
import { pullThePlug } from "./plug.ts";

const BOOT_ID = "/proc/sys/kernel/random/boot_id";

export class RebootedHome extends TestHome {
  #machine: ChildProcess | undefined;

  /** Everything of the home is gone at once, and from now on it is another boot. */
  async reboot(): Promise<void> {
    await pullThePlug(this);
    await this.anotherBoot();
  }

  /** For what went down in another way before. */
  async anotherBoot(): Promise<void> {
    const id = `${randomUUID()}\n`;
    const file = path.join(this.root, "boot_id");
    writeFileSync(file, id);
    const before = this.#machine;
    this.#machine = spawn("unshare", ["--mount", "sh", "-c", `mount --bind '${file}' ${BOOT_ID} && exec sleep 100000`], {
      stdio: "ignore",
    });
    await eventually(() => readFileSync(`/proc/${this.#machine?.pid}/root${BOOT_ID}`, "utf8") === id);
    before?.kill("SIGKILL");
  }

  override start(args: readonly string[], options: CliOptions = {}): ChildProcessWithoutNullStreams {
    if (!this.#machine) return super.start(args, options);
    const cwd = options.cwd ?? this.root;
    const inside = ["--mount", `--target=${this.#machine.pid}`, `--wdns=${cwd}`, HOLDFAST, ...args];
    const child = spawn("nsenter", inside, { cwd, env: { ...this.env, ...options.env }, stdio: "pipe" });
    child.stdin.on("error", () => {}).end(options.input ?? "");
    return child;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    try {
      await super[Symbol.asyncDispose]();
    } finally {
      this.#machine?.kill("SIGKILL");
    }
  }
}
