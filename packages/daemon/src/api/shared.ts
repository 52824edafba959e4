/**
 * An entry point for other users of this machine, on request: a second socket, which only the users of one group can open, and on which every
 * request needs a token. Recorded in `share.json`, so that the next daemon opens it again.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError, type Principal, type Sharing } from "@holdfast/contract";
import { describe, type Home, isMissing, keepListening, log, secureSharedDirectory, writeFileAtomic } from "@holdfast/platform";
import type { Journal } from "../journal/journal.ts";
import type { Door } from "./gate.ts";
import type { Served } from "./serve.ts";

/** No web page can open a Unix socket. */
export const SHARED_DOOR: Door = { open: false, check() {} };

const RETRY_MS = 5000;

interface Open {
  served: Served;
  close(): void;
}

export class SharedDoor implements AsyncDisposable {
  readonly #home: Home;
  readonly #file: string;
  readonly #journal: Journal;
  readonly #serve: () => Served;
  #group: string | undefined;
  #open: Open | undefined;
  #error: string | null = null;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: { home: Home; journal: Journal; serve(): Served }) {
    this.#home = options.home;
    this.#file = join(options.home.path, "share.json");
    this.#journal = options.journal;
    this.#serve = options.serve;
  }

  get sharing(): Sharing | null {
    if (this.#group === undefined) return null;
    return { group: this.#group, socket: this.#socket, url: `unix:${this.#socket}`, error: this.#error };
  }

  /** Opens the socket that the last daemon had open. A failure is shown in `status` and does not prevent a start. */
  async begin(): Promise<void> {
    this.#group = this.#remembered();
    await this.#tryToOpen();
  }

  async set({ group }: { group: string | null }, actor: Principal): Promise<Sharing | null> {
    if (group === null) {
      if (this.#group === undefined) return null;
      // Closed even if the event cannot be recorded.
      rmSync(this.#file, { force: true });
      this.#replace(undefined, undefined);
      this.#journal.append({ type: "daemon.shared", actor, session: null, data: { group: null, socket: this.#socket } });
      return null;
    }
    if (group === this.#group && this.#open) return this.sharing;
    const gid = gidOf(group);
    const before = this.#group;
    // There is one path, for one group at a time.
    clearTimeout(this.#retry);
    if (this.#open) this.#replace(undefined, undefined);
    let open: Open | undefined;
    try {
      open = await this.#listen(gid).catch((cause: NodeJS.ErrnoException) => {
        throw unusable(group, cause);
      });
      writeFileAtomic(this.#file, `${JSON.stringify({ v: 1, group })}\n`);
      this.#journal.append({ type: "daemon.shared", actor, session: null, data: { group, socket: this.#socket } });
    } catch (error) {
      if (open) shut(open);
      this.#group = before;
      await this.#tryToOpen();
      throw error;
    }
    this.#replace(group, open);
    return this.sharing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#retry);
    this.#open?.close();
    await this.#open?.served.end();
    this.#sweep();
  }

  get #socket(): string {
    return join(this.#home.sharedDirectory, "daemon.sock");
  }

  #replace(group: string | undefined, open: Open | undefined): void {
    clearTimeout(this.#retry);
    if (this.#open) shut(this.#open);
    this.#group = group;
    this.#open = open;
    this.#error = null;
    if (!open) this.#sweep();
  }

  /** Removes the directory if it is empty. */
  #sweep(): void {
    try {
      rmdirSync(this.#home.sharedDirectory);
    } catch {
      // The directory was never created, or contains foreign files.
    }
  }

  async #tryToOpen(): Promise<void> {
    const group = this.#group;
    if (group === undefined) return;
    try {
      this.#open = await this.#listen(gidOf(group));
      this.#error = null;
    } catch (error) {
      if (this.#error === null) log(`cannot share with ${group}: ${describe(error)}`);
      this.#error = (error as Error).message;
      this.#retry = setTimeout(() => void this.#tryToOpen(), RETRY_MS).unref();
    }
  }

  async #listen(gid: number): Promise<Open> {
    const served = this.#serve();
    const door = await keepListening(served.server, { path: this.#socket, gid, secure: () => secureSharedDirectory(this.#home, gid) });
    served.server.on("error", (error) => log(`on the shared socket: ${error.message}`));
    return { served, close: () => door.close() };
  }

  #remembered(): string | undefined {
    try {
      const { group } = JSON.parse(readFileSync(this.#file, "utf8")) as { group?: unknown };
      return typeof group === "string" ? group : undefined;
    } catch (error) {
      if (!isMissing(error)) log(`${this.#file} is ignored: ${(error as Error).message}`);
      return undefined;
    }
  }
}

function shut(open: Open): void {
  open.close();
  void open.served.end();
}

/** Looks in all of the machine's group databases. */
function gidOf(group: string): number {
  const line = /^\w[\w.-]*\$?$/.test(group) ? lineOf(group) : undefined;
  const gid = Number(line?.split(":")[2]);
  if (line !== undefined && Number.isInteger(gid)) return gid;
  throw new HoldfastError("usage", `this machine has no group ${JSON.stringify(group)}`, {
    hint: "create one and add the users and yourself: groupadd, usermod -aG",
  });
}

function lineOf(group: string): string | undefined {
  try {
    return execFileSync("getent", ["group", group], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], timeout: 5000 });
  } catch {
    const lines = readFileSync("/etc/group", "utf8").split("\n");
    return lines.find((line) => line.startsWith(`${group}:`));
  }
}

function unusable(group: string, cause: NodeJS.ErrnoException): HoldfastError {
  if (cause instanceof HoldfastError) return cause;
  const why = cause.code === "EPERM" ? "you are not a member" : cause.message;
  return new HoldfastError("address_unusable", `cannot share with the group ${group}: ${why}`, {
    hint: "join that group (id lists your groups; log in again after usermod -aG), then run: holdfast down; holdfast up --share GROUP",
    cause,
  });
}
