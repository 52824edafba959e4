/** A daemon whose wall clock a test can set while it runs. All other clocks, and all programs it starts, keep the real time. */
import { spawn } from "node:child_process";
import { globSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inspect } from "@holdfast/platform";
import { eventually, ROOT, type TestHome } from "./home.ts";

export class SettableClock {
  readonly #home: TestHome;
  readonly #file: string;

  constructor(home: TestHome) {
    this.#home = home;
    this.#file = path.join(home.root, "clock");
    this.set("+0");
  }

  /** `-1d` or `+1d`, relative to the real time. */
  set(shift: string): void {
    writeFileSync(this.#file, `${shift}\n`);
  }

  /** For commands that read the same clock; never for one that starts a session, which would inherit it. */
  get env(): Record<string, string> {
    return {
      LD_PRELOAD: library(),
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    };
  }

  async startDaemon(): Promise<void> {
    const { HOLDFAST_HOME = "", HOME = "" } = this.#home.env;
    // Builds the bundles if necessary.
    await this.#home.ok(["version"]);
    const env = { HOLDFAST_HOME, HOME, PATH: "/usr/bin:/bin", LANG: "C.UTF-8", ...this.env };
    spawn(process.execPath, [path.join(ROOT, "dist/daemon.mjs")], { env, cwd: "/", detached: true, stdio: "ignore" }).unref();
    using client = this.#home.client();
    await eventually(() =>
      client.call("status", {}).then(
        () => true,
        () => false,
      ),
    );
  }
}

/** libfaketime leaves a file in shared memory for each killed process. */
export function clearSharedMemory(): void {
  for (const file of globSync(["/dev/shm/faketime_shm_*", "/dev/shm/sem.faketime_sem_*"])) {
    const pid = Number(file.slice(file.lastIndexOf("_") + 1));
    if (!inspect(pid)) rmSync(file, { force: true });
  }
}

/** Not with the faketime wrapper, which cannot run twice under one pid. */
function library(): string {
  const [found] = globSync(["/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib*/faketime/libfaketime.so.1"]);
  if (found === undefined) throw new Error("libfaketime is missing: apt-get install faketime");
  return found;
}
