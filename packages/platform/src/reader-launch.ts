/**
 * Starts a reader: the daemon's program, as something that answers questions about a home in which no daemon can run, for one command
 * only. It has a directory of its own wherever there is room, for a copy of the database and its socket, and ends with its starter.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import { minimalEnvironment, pipeOf } from "./daemon-launch.ts";
import type { Home } from "./home.ts";

/** Beside the copy: what opening it writes. */
const MARGIN = 4 << 20;

/** A Unix socket's path ends at 107 bytes, or 103. */
const LONGEST = 80;

export interface Reader extends Disposable {
  socket: string;
}

/** `trouble`: why no daemon runs. Throws it when no reader can run either. */
export async function launchReader(home: Home, program: string, trouble: HoldfastError): Promise<Reader> {
  const place = roomFor(home);
  if (place === undefined) throw trouble;
  const child = spawn(process.execPath, [program, "--read", place, JSON.stringify(trouble.toBody())], {
    cwd: "/",
    env: minimalEnvironment(home),
    stdio: ["pipe", "ignore", "ignore", "pipe"],
  });
  const end = () => {
    // It sees the end of its standard input also when we are killed.
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
  // Nothing of it keeps the command from ending.
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
      // Not there, or not ours to write to.
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
