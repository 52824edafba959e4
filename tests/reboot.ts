/** A home on a machine that reboots: a mount namespace in which the kernel reports another boot id. Needs root. */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type CliOptions, eventually, HOLDFAST, TestHome } from "./home.ts";
import { pullThePlug } from "./plug.ts";

const BOOT_ID = "/proc/sys/kernel/random/boot_id";

export class RebootedHome extends TestHome {
  #machine: ChildProcess | undefined;

  /** Kills everything in the home and changes the boot id. */
  async reboot(): Promise<void> {
    await pullThePlug(this);
    await this.anotherBoot();
  }

  /** Changes the boot id only, after another kind of crash. */
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
