/**
 * A Unix socket that stays where clients look for it. A cleaner of /tmp may delete it while the process is alive, alone or with its directory. It is
 * then created again, as often as necessary. Open connections survive that.
 */
import { chmodSync, chownSync, existsSync, type FSWatcher, rmSync, watch } from "node:fs";
import type { Server } from "node:net";
import { dirname } from "node:path";
import { describe, log } from "./log.ts";

/** Until the socket exists again, no client can reach the process. */
const RETRY_MS = 1000;

/** Connections that wait to be accepted; a Unix socket refuses further ones. */
const BACKLOG = 4096;

export interface DoorOptions {
  path: string;
  /** Creates or checks the directory. */
  secure(): void;
  /** Group that may also connect. */
  gid?: number;
}

/** The caller owns the path: an existing socket file belongs to no live process. */
export async function keepListening(server: Server, options: DoorOptions): Promise<{ close(): void }> {
  const { path } = options;
  options.secure();
  await open(server, options);

  let ending = false;
  let reopening = false;
  let watcher = watchSocket();
  // Without a free watch the missing socket is noticed late, but that is no reason not to listen.
  function watchSocket(): FSWatcher | undefined {
    try {
      return watch(dirname(path), { persistent: false }, () => void reopen()).on("error", () => {});
    } catch (error) {
      log(`cannot watch the socket ${path}: ${describe(error)}`);
      return undefined;
    }
  }
  async function reopen(): Promise<void> {
    if (ending || reopening || existsSync(path)) return;
    reopening = true;
    log(`the socket ${path} vanished; listening again`);
    watcher?.close();
    try {
      server.close();
      options.secure();
      await open(server, options);
      watcher = watchSocket();
    } catch (error) {
      log(`cannot listen again: ${describe(error)}`);
    }
    reopening = false;
    // Deleted again, or not created yet.
    if (!ending && !existsSync(path)) setTimeout(() => void reopen(), RETRY_MS).unref();
  }

  return {
    close() {
      ending = true;
      watcher?.close();
      rmSync(path, { force: true });
    },
  };
}

function open(server: Server, { path, gid }: DoorOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    rmSync(path, { force: true });
    server.once("error", reject).listen({ path, backlog: BACKLOG }, () => {
      server.off("error", reject);
      try {
        chmodSync(path, 0o600);
        if (gid !== undefined) {
          chownSync(path, process.getuid?.() ?? 0, gid);
          chmodSync(path, 0o660);
        }
        resolve();
      } catch (error) {
        reject(error);
      }
    });
  });
}
