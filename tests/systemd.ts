/**
 * A real systemd user manager for a test, on a machine with any init system: in its own mount namespace, which looks as if systemd had
 * booted it. Needs root.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { globSync, rmdirSync } from "node:fs";
import { type CliOptions, eventually, HOLDFAST, TestHome } from "./home.ts";

const BOOT = `
set -e
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/lib/systemd
mkdir -p /run/systemd/system "$XDG_RUNTIME_DIR/systemd"
chmod 700 "$XDG_RUNTIME_DIR"
if [ "$1" = lingering ]; then mkdir -p /var/lib/systemd/linger; : > "/var/lib/systemd/linger/$(id -un)"; fi
# It takes the cgroup it is in for its own, and everybody in it.
for tree in /sys/fs/cgroup /sys/fs/cgroup/*; do
  case $tree in */cgroup/cpuset) continue ;; esac
  if [ -e "$tree/cgroup.procs" ] && mkdir "$tree/$2" 2>/dev/null; then echo $$ > "$tree/$2/cgroup.procs"; fi
done
exec /lib/systemd/systemd --user --log-target=null
`;

/** A home whose commands run as on a systemd machine. */
export class SystemdHome extends TestHome {
  readonly #manager: ChildProcess;
  readonly #cgroup = `holdfast-test-${randomUUID()}`;

  private constructor(lingering: boolean) {
    super();
    const runtime = `/run/user/${process.getuid?.()}`;
    this.#manager = spawn("unshare", ["--mount", "sh", "-c", BOOT, "boot", lingering ? "lingering" : "not", this.#cgroup], {
      env: { PATH: this.env.PATH, HOME: this.env.HOME, XDG_RUNTIME_DIR: runtime },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    this.#manager.stderr?.setEncoding("utf8").on("data", (chunk) => {
      said += chunk;
    });
    this.ready = eventually(() => {
      if (this.#manager.exitCode !== null) throw new Error(`systemd's user manager does not run here: ${said}`);
      return globSync(`/proc/${this.#manager.pid}/root${runtime}/systemd/private`).length > 0;
    });
  }

  readonly ready: Promise<unknown>;

  static async open(options: { lingering: boolean }): Promise<SystemdHome> {
    const home = new SystemdHome(options.lingering);
    await home.ready;
    return home;
  }

  /** The manager exists but does not answer. */
  async stopManager(): Promise<void> {
    this.#manager.kill("SIGSTOP");
  }

  /** Runs the user's `systemctl --user` as in a login; returns its output. */
  systemctl(...args: string[]): string {
    const env = { ...this.env, XDG_RUNTIME_DIR: `/run/user/${process.getuid?.()}` };
    const { status, stdout, stderr } = spawnSync("nsenter", ["--mount", `--target=${this.#manager.pid}`, "systemctl", "--user", ...args], {
      encoding: "utf8",
      env,
    });
    if (status !== 0) throw new Error(`systemctl ${args.join(" ")} ended with ${status}: ${stderr}`);
    return stdout;
  }

  override start(args: readonly string[], options: CliOptions = {}): ChildProcessWithoutNullStreams {
    const cwd = options.cwd ?? this.root;
    const inside = ["--mount", `--target=${this.#manager.pid}`, `--wdns=${cwd}`, HOLDFAST, ...args];
    const child = spawn("nsenter", inside, { cwd, env: { ...this.env, ...options.env }, stdio: "pipe" });
    child.stdin.end(options.input ?? "");
    return child;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    try {
      await super[Symbol.asyncDispose]();
    } finally {
      this.#manager.kill("SIGKILL");
      await eventually(() => this.#manager.exitCode !== null || this.#manager.signalCode !== null);
      await eventually(() => removeCgroups(this.#cgroup));
    }
  }
}

/** Deepest first; returns false while a killed process is still in a group. */
function removeCgroups(name: string): boolean {
  const made = globSync([`/sys/fs/cgroup/${name}/**/`, `/sys/fs/cgroup/*/${name}/**/`]);
  try {
    for (const directory of made.sort((a, b) => b.length - a.length)) rmdirSync(directory);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EBUSY") return false;
    throw error;
  }
}
