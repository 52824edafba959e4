/**
 * Starts a reader: the daemon's program in a mode that answers read requests for a single command, for a home in which no daemon can run. It has a
 * private directory on a disk with enough space, for a copy of the database and its socket, and ends with its starter.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import { minimalEnvironment, pipeOf } from "./daemon-launch.ts";
import type { Home } from "./home.ts";

/** Space beyond the copy, for files that are written when it is opened. */
const MARGIN = 4 << 20;

/** A Unix socket path has at most 107 bytes, or 103. */
const LONGEST = 80;

export interface Reader extends Disposable {
  socket: string;
}

/** `trouble`: why no daemon runs. Throws it if no reader can run either. */
export async function launchReader(home: Home, program: string, trouble: HoldfastError): Promise<Reader> {
  const place = roomFor(home);
  if (place === undefined) throw trouble;
  const child = spawn(process.execPath, [program, "--read", place, JSON.stringify(trouble.toBody())], {
    cwd: "/",
    env: minimalEnvironment(home),
    stdio: ["pipe", "ignore", "ignore", "pipe"],
  });
  const end = () => {
    // The reader sees the end of its standard input, even if this process is killed.
    child.stdin?.destroy();
    rmSync(place, { recursive: true, force: true });
  };
  process.once("exit", end);
  try {
    await ready(child);
  } catch (cause) {
    end();
    throw new HoldfastError(trouble.code, trouble.message, { cause, ...(trouble.hint ? { hint: trouble.hint } : {}) });
  }
  // The reader must not keep the command alive.
  child.unref();
  for (const pipe of [child.stdin, pipeOf(child)]) (pipe as unknown as { unref?(): void } | null)?.unref?.();
  return {
    socket: join(place, "reader.sock"),
    [Symbol.dispose]() {
      process.off("exit", end);
      end();
    },
  };
}

function roomFor(home: Home): string | undefined {
  const size = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const wanted = size(home.database) + size(`${home.database}-wal`) + MARGIN;
  for (const directory of [process.env.XDG_RUNTIME_DIR, tmpdir(), "/tmp", "/dev/shm"]) {
    if (!directory || directory.length > LONGEST) continue;
    try {
      const { bavail, bsize } = statfsSync(directory);
      if (bavail * bsize >= wanted) return mkdtempSync(join(directory, "holdfast-read-"));
    } catch {
      // The directory does not exist or is not writable.
    }
  }
  return undefined;
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    pipeOf(child)?.on("data", resolve);
    child.on("close", (code) => reject(new Error(`the reader ended with ${code}`)));
  });
}
