/**
 * Checks off an item and changes nothing else: no other byte, nor the file's mode, owner or symbolic link. The file may have been edited since
 * it was read, so it is read again, and the item is found by its text and position. The new file is written beside the old one and renamed into
 * place. Edits between reading and renaming are not lost: a replaced file is noticed before the rename, and a write into the old file
 * afterwards, because the old file is still open here.
 */
import {
  type BigIntStats,
  chmodSync,
  chownSync,
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "@holdfast/contract/errors";
import { renameDurably } from "@holdfast/platform/files";
import { type ScannedItem, scan } from "./scan.ts";

/** Editors empty a file before they write it, so a missing item is looked for this often. */
const LOOKS = 5;
const LOOK_MS = 100;
const MOST_TRIES = 20;
/** An editor that had the file open during the replacement has written it by then. */
const SETTLE_MS = 30;

export type Ticked = "ticked" | "was ticked";

export interface Meant {
  item: ScannedItem;
  /** All items as first read. */
  all: readonly ScannedItem[];
}

export async function tick(file: string, meant: Meant): Promise<Ticked> {
  for (let looks = 1; ; looks++) {
    try {
      return await tickNow(file, meant);
    } catch (error) {
      if (!(error instanceof Gone) || looks === LOOKS) throw error instanceof Gone ? error.told : error;
      await sleep(LOOK_MS);
    }
  }
}

class Gone extends Error {
  readonly told: HoldfastError;

  constructor(file: string, why: string) {
    super(why);
    this.told = new HoldfastError("task_item_gone", `${file}: ${why}; its box was not checked off`, {
      hint: "the item is done: check its box yourself, or the next run does it again",
    });
  }
}

async function tickNow(file: string, meant: Meant): Promise<Ticked> {
  let again: string | undefined;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const real = realpath(file);
    const handle = openSync(real, "r");
    try {
      const before = fstatSync(handle, { bigint: true });
      const bytes = again ?? readAll(handle);
      const found = findAgain(bytes, meant, file);
      if (found.done && again === undefined) return "was ticked";
      const ticked = found.done ? bytes : `${bytes.slice(0, found.box)}x${bytes.slice(found.box + 1)}`;
      if (!replace(real, ticked, before)) continue;
      // A write into the replaced file would be lost, so its content is checked off again.
      const after = await settled(handle);
      if (isSame(after, before)) return "ticked";
      again = readAll(handle);
    } finally {
      closeSync(handle);
    }
  }
  throw new HoldfastError(
    "file_unusable",
    `another program keeps changing ${file}; the box of the item in line ${meant.item.line} was not checked off`,
    {
      hint: "check the box yourself, or the next run does the item again",
    },
  );
}

/** The file's state once it has not changed for a moment. */
async function settled(handle: number): Promise<BigIntStats> {
  for (let last = fstatSync(handle, { bigint: true }); ; ) {
    await sleep(SETTLE_MS);
    const now = fstatSync(handle, { bigint: true });
    if (isSame(now, last)) return now;
    last = now;
  }
}

/** Matches by text: by position if the number of equal items is unchanged, otherwise only if unique. */
export function findAgain(bytes: string, { item, all }: Meant, file: string): ScannedItem {
  const now = scan(bytes).items.filter(({ key }) => key === item.key);
  const then = all.filter(({ key }) => key === item.key);
  const place = then.findIndex(({ line }) => line === item.line);
  const found = now.length === then.length ? now[place] : now.length === 1 ? now[0] : undefined;
  if (found) return found;
  throw new Gone(file, now.length === 0 ? `the item of line ${item.line} no longer exists` : "other items now have the same words");
}

/** False if the file was replaced or changed meanwhile. */
function replace(real: string, content: string, before: BigIntStats): boolean {
  const temporary = join(dirname(real), `.${basename(real)}.${process.pid}.tmp`);
  try {
    writeFileSync(temporary, content, { encoding: "latin1", mode: 0o600 });
    keepAs(temporary, before);
    if (!isSame(statSync(real, { bigint: true }), before)) return false;
    renameDurably(temporary, real);
    return true;
  } catch (error) {
    throw new HoldfastError("file_unusable", `${real} cannot be written: ${(error as Error).message}`, {
      hint: "check the box yourself, or the next run does the item again",
      cause: error,
    });
  } finally {
    removeOurs(temporary);
  }
}

function removeOurs(temporary: string): void {
  try {
    unlinkSync(temporary);
  } catch {
    // The file was renamed, or never written.
  }
}

function keepAs(file: string, { uid, gid, mode }: BigIntStats): void {
  try {
    chownSync(file, Number(uid), Number(gid));
  } catch {
    // The file belongs to another user; like with any editor, the new one belongs to this user.
  }
  chmodSync(file, Number(mode & 0o7777n));
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.dev === b.dev && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

function readAll(handle: number): string {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const chunk = Buffer.alloc(64 * 1024);
    const read = readSync(handle, chunk, 0, chunk.length, at);
    if (read === 0) return Buffer.concat(chunks).toString("latin1");
    chunks.push(chunk.subarray(0, read));
    at += read;
  }
}

function realpath(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    throw new HoldfastError("task_item_gone", `${file} no longer exists, so no box was checked off`, {
      hint: "the item is done",
      cause: error,
    });
  }
}

/** Reads bytes. Encodings other than UTF-8 and ASCII have no recognizable lines. */
export function readTaskFile(file: string): string {
  let bytes: string;
  try {
    bytes = readFileSync(file, "latin1");
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : (error as Error).message;
    throw new HoldfastError("task_file_invalid", `${file}: ${why}`, { hint: "pass a markdown file with a checklist", cause: error });
  }
  if (/^(\u00ff\u00fe|\u00fe\u00ff)/.test(bytes) || bytes.includes("\0"))
    throw new HoldfastError("task_file_invalid", `${file}:1: not UTF-8 text; expected a markdown file`, {
      hint: "save it as UTF-8",
    });
  return bytes;
}
