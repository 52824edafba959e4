/** One connection to a remote daemon: ssh to `holdfast __wire`, which connects standard input and output to the daemon's socket. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { Duplex } from "node:stream";
import { HoldfastError } from "@holdfast/contract/errors";
import { VERSION } from "@holdfast/contract/version";
import { toldError } from "./ask.ts";
import type { Machine } from "./machine.ts";
import { findSsh } from "./ssh.ts";
import { sshArguments } from "./ssh-arguments.ts";
import { SSH_FAILED, sshFailure } from "./ssh-failure.ts";

/** Longest first line and longest error output; anything longer is not Holdfast. */
const LONGEST_GREETING = 64 * 1024;

/** Resolves once the remote daemon is connected; rejects with the remote error. `again`: this client was served before. */
export async function openWire(machine: Machine, { again }: { again: boolean }): Promise<FarWire> {
  const ssh = findSsh(machine);
  const argv = ["__wire", "--json", ...(again ? ["--again"] : [])];
  const args = sshArguments(ssh, machine, { argv, terminal: false, input: true });
  const batch = again ? ["-o", "BatchMode=yes"] : [];
  const wire = new FarWire(machine, spawn(ssh.program, [...ssh.options, ...batch, ...args], { stdio: "pipe" }));
  const version = await wire.greeting;
  if (version === VERSION) return wire;
  wire.destroy();
  throw otherVersion(machine, version);
}

export class FarWire extends Duplex {
  /** Version of the remote holdfast. */
  readonly greeting: Promise<string>;
  readonly #child: ChildProcessWithoutNullStreams;
  #isIdle = false;

  constructor(machine: Machine, child: ChildProcessWithoutNullStreams) {
    super({ allowHalfOpen: false });
    this.#child = child;
    // Errors arrive as an early close.
    this.on("error", () => {});
    child.stdin.on("error", () => {});
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      said = (said + text).slice(-LONGEST_GREETING);
    });
    this.greeting = new Promise((resolve, reject) => {
      let head: Buffer | undefined = Buffer.alloc(0);
      child.stdout.on("data", (chunk: Buffer) => {
        if (!head) return this.#take(chunk);
        head = Buffer.concat([head, chunk]);
        const end = head.indexOf(10);
        if (end < 0 && head.length <= LONGEST_GREETING) return;
        const rest = head.subarray(end + 1);
        resolve(/^holdfast (\S+)$/.exec(head.toString("utf8", 0, end))?.[1] ?? "");
        head = undefined;
        if (rest.length > 0) this.#take(rest);
      });
      child.once("error", reject);
      child.once("close", (code) => {
        const why = code === SSH_FAILED || code === null ? sshFailure(machine, said) : code === 0 ? undefined : farError(machine, said);
        reject(why ?? new HoldfastError("daemon_unreachable", `the daemon of ${machine.name} ended before it answered`));
        // An idle connection has no reader that would notice its end.
        if (why || this.#isIdle) this.destroy(why);
        else this.push(null);
      });
    });
    // The caller that awaits `greeting` handles the error.
    this.greeting.catch(() => {});
  }

  override _read(): void {
    this.#child.stdout.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#child.stdin.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#child.stdin.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#child.kill("SIGTERM");
    done(error);
  }

  ref(): void {
    this.#isIdle = false;
    this.#each((one) => one.ref());
  }

  /** Lets the process exit. */
  unref(): void {
    this.#isIdle = true;
    this.#each((one) => one.unref());
  }

  #take(chunk: Buffer): void {
    if (!this.destroyed && !this.push(chunk)) this.#child.stdout.pause();
  }

  #each(act: (one: { ref(): unknown; unref(): unknown }) => void): void {
    const { stdin, stdout, stderr } = this.#child as unknown as Record<"stdin" | "stdout" | "stderr", { ref(): unknown; unref(): unknown }>;
    for (const one of [this.#child, stdin, stdout, stderr]) act(one);
  }
}

/** An older version reports that it has no such command. */
function farError(machine: Machine, said: string): HoldfastError {
  const error = toldError(said);
  return error.code === "usage" && error.message.includes("__wire") ? otherVersion(machine, "") : error;
}

function otherVersion({ name }: Machine, version: string): HoldfastError {
  const theirs = version === "" ? "an older holdfast" : `holdfast ${version}`;
  return new HoldfastError(
    "machine_other_version",
    `${name} has ${theirs}, this machine has ${VERSION}; following needs the same version on both`,
    {
      hint: "install the same version there; commands that do not follow work anyway",
    },
  );
}
