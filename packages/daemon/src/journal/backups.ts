/**
 * Backups of the database in generations. One is taken every EVERY_MS if something was appended, before a migration, before a restore, and on
 * request. The copy is made under a temporary name, checked page by page, and only then renamed: a named backup was good when it was taken. Names
 * sort in the order of creation, even if the clock jumps.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { type Backup, HoldfastError, unwritable } from "@holdfast/contract";
import { type Home, isMissing, log } from "@holdfast/platform";
import type { CopyOrder, CopyOutcome } from "./backup-copy.ts";
import { surplus } from "./generations.ts";
import { MIGRATIONS } from "./migrations.ts";

/** At most this much is lost if nothing of a damaged database can be read. */
const EVERY_MS = 10 * 60_000;

/** Delay after a start, which has more urgent work. */
const CALM_MS = 30_000;

/** Space for the migration's own writes and a few events. */
const MIGRATION_MARGIN = 4 << 20;

/** SQLite's default. */
const CHECKPOINT_PAGES = 1000;

const NAME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-(\d+)-(timer|asked|migration|restore)$/;

export class Backups implements Disposable {
  readonly #home: Home;
  readonly #copier: string;
  readonly #onDamage: (what: string) => void;
  #appending: DatabaseSync | undefined;
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();
  readonly #held = new Set<string>();
  /** Reason for the last failure. */
  failure: string | undefined;

  /** `copier`: the worker thread's file. `onDamage`: called if a copy shows that the database is damaged. */
  constructor(options: { home: Home; copier?: string; onDamage?(what: string): void }) {
    this.#home = options.home;
    this.#copier = options.copier ?? join(import.meta.dirname, "backup-copy.ts");
    this.#onDamage = options.onDamage ?? (() => {});
    this.#removeHalves();
  }

  /** Registers the appending connection. During a copy, it leaves checkpoints to the copier and never waits for the disk. */
  spare(db: DatabaseSync): void {
    this.#appending = db;
  }

  /** Protects a backup that is about to be restored from deletion. */
  hold({ name }: Backup): void {
    this.#held.add(name);
  }

  /** Takes a backup whenever `seq` differs from the newest one's, at most every EVERY_MS. */
  begin(seq: () => number): void {
    const newest = this.list()[0];
    const age = newest ? Date.now() - Date.parse(newest.at) : EVERY_MS;
    this.#wait(seq, Math.min(EVERY_MS, Math.max(CALM_MS, EVERY_MS - age)));
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  /** Lists newest first. */
  list(): Backup[] {
    return this.#files()
      .filter((file) => file.endsWith(".db"))
      .sort()
      .reverse()
      .flatMap((file) => this.#parse(file.slice(0, -".db".length)));
  }

  find(name: string): Backup {
    const backups = this.list();
    const backup = backups.find((each) => each.name === name);
    if (backup) return backup;
    throw new HoldfastError("backup_not_found", `there is no backup ${JSON.stringify(name)}`, {
      hint: "list backups: holdfast backup ls",
      candidates: backups.slice(0, 3).map((each) => each.name),
    });
  }

  pathOf(backup: Backup): string {
    return join(this.#home.backups, `${backup.name}.db`);
  }

  /** Runs one at a time: two at once would only take longer. */
  create(why: Backup["why"]): Promise<Backup> {
    const next = this.#last.then(() => this.#create(why));
    this.#last = next.then(
      () => this.#remember(undefined),
      (error: unknown) => this.#remember(HoldfastError.from(error).message),
    );
    return next;
  }

  /** True if this version of Holdfast could restore the backup now. */
  async isUsable(backup: Backup): Promise<boolean> {
    const target = join(this.#home.backups, `${process.pid}.check.tmp`);
    const outcome = await this.#copy({ source: this.pathOf(backup), target, live: false });
    rmSync(target, { force: true });
    return !("failed" in outcome) && outcome.damage === undefined && outcome.version <= MIGRATIONS.length;
  }

  /** Logs a failure once, and again only after a success. */
  #remember(failure: string | undefined): void {
    if (failure !== undefined && failure !== this.failure) log(failure);
    this.failure = failure;
  }

  async #create(why: Backup["why"]): Promise<Backup> {
    this.#checkRoom(why);
    mkdirSync(this.#home.backups, { recursive: true, mode: 0o700 });
    const temporary = join(this.#home.backups, `${process.pid}.tmp`);
    this.#appending?.exec("PRAGMA wal_autocheckpoint = 0");
    try {
      const outcome = await this.#copy({ source: this.#home.database, target: temporary, live: this.#appending !== undefined });
      if ("failed" in outcome) throw failed(outcome.failed);
      if (outcome.damage !== undefined) {
        this.#onDamage(outcome.damage);
        throw new HoldfastError("journal_damaged", `the journal's database is damaged: ${outcome.damage}`, {
          hint: "it is being restored from the newest backup and its readable parts",
        });
      }
      const name = this.#nextName(outcome.seq, why);
      renameSync(temporary, join(this.#home.backups, `${name}.db`));
      await sync(this.#home.backups);
      this.#thin();
      return this.find(name);
    } finally {
      if (this.#appending?.isOpen) this.#appending.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
      for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(temporary + suffix, { force: true });
    }
  }

  #copy(order: CopyOrder): Promise<CopyOutcome> {
    return new Promise((resolve, reject) => {
      const thread = new Worker(this.#copier, { workerData: order });
      thread.once("message", resolve);
      thread.once("error", (cause: Error) => reject(failed(cause.message, cause)));
      thread.once("exit", () => reject(failed("the backup thread ended")));
    });
  }

  /** A backup must never fill the disk: recordings come first. But without the one before a migration, no daemon starts. */
  #checkRoom(why: Backup["why"]): void {
    const { bavail, bsize } = statfsSync(this.#home.path);
    const size = statSync(this.#home.database).size;
    const needed = why === "migration" ? size + MIGRATION_MARGIN : 2 * size;
    if (bavail * bsize >= needed) return;
    const what = `${inMegabytes(needed)} MB of free space are needed, and ${inMegabytes(bavail * bsize)} MB are free`;
    if (why !== "migration") throw failed(what);
    throw new HoldfastError("backup_failed", `the journal has an older schema, and is not migrated without a backup: ${what}`, {
      hint: `free space on the disk of ${this.#home.path}, and try again; nothing was changed`,
    });
  }

  /** Removes temporary files of a daemon that died. If the disk is not writable, they stay. */
  #removeHalves(): void {
    try {
      for (const name of this.#files()) if (name.includes(".tmp")) rmSync(join(this.#home.backups, name), { force: true });
    } catch (error) {
      if (!unwritable(error)) throw error;
    }
  }

  /** Returns nothing if the directory is missing: a full disk must not keep a daemon from starting. */
  #files(): string[] {
    try {
      return readdirSync(this.#home.backups);
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  #nextName(seq: number, why: Backup["why"]): string {
    const newest = this.list()[0];
    const at = Math.max(Date.now(), newest ? Date.parse(newest.at) + 1 : 0);
    return `${new Date(at).toISOString().replace(/[-:.]/g, "")}-${seq}-${why}`;
  }

  #parse(name: string): Backup[] {
    const match = NAME.exec(name);
    if (!match) return [];
    const [, year, month, day, hour, minute, second, ms, seq, why] = match;
    const stat = statSync(join(this.#home.backups, `${name}.db`), { throwIfNoEntry: false });
    if (!stat) return [];
    const at = `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`;
    return [{ name, at, why: why as Backup["why"], seq: Number(seq), bytes: stat.size }];
  }

  #thin(): void {
    for (const backup of surplus(this.list())) if (!this.#held.has(backup.name)) rmSync(this.pathOf(backup), { force: true });
  }

  #wait(seq: () => number, ms: number): void {
    this.#timer = setTimeout(() => void this.#due(seq), ms).unref();
  }

  async #due(seq: () => number): Promise<void> {
    try {
      if (seq() !== this.list()[0]?.seq) await this.create("timer");
    } catch {
      // Already logged. The next backup is tried at its time.
    }
    this.#wait(seq, EVERY_MS);
  }
}

/** Asynchronous, because the disk may take long. */
async function sync(path: string): Promise<void> {
  await using file = await open(path);
  await file.sync();
}

function inMegabytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

function failed(why: string, cause?: unknown): HoldfastError {
  return new HoldfastError("backup_failed", `a backup of the journal could not be taken: ${why}`, {
    hint: "free space, then run: holdfast backup create",
    cause,
  });
}
