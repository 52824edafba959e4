import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { root, say } from "./root.mjs";

const LONGEST_MS = 15 * 60_000;
/** Builds take less time; a message is useful only when a person notices the wait. */
const QUIET_MS = 2000;
const held = new Set();

/**
 * Runs `work` while no other set-up or build of this checkout runs. Takes over a lock whose owner died. A resource that several
 * checkouts share keeps its lock in `folder`.
 */
export async function exclusively(name, work, folder = path.join(root, ".node")) {
  if (held.has(name)) return work();
  const file = path.join(folder, `${name}.lock`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  await take(file, name);
  held.add(name);
  const release = () => fs.rmSync(file, { force: true });
  process.once("exit", release);
  try {
    return await work();
  } finally {
    process.removeListener("exit", release);
    held.delete(name);
    release();
  }
}

async function take(file, name) {
  const began = Date.now();
  let told = false;
  // link() is atomic and the file is complete before: nobody can read a lock without a pid.
  const mine = `${file}.${process.pid}`;
  fs.writeFileSync(mine, String(process.pid));
  try {
    while (!tryLink(mine, file)) {
      const owner = ownerOf(file);
      if (owner === undefined) continue;
      if (!isAlive(owner)) {
        removeStale(file, owner);
        continue;
      }
      if (Date.now() - began > LONGEST_MS) throw new Error(`${name} is held by process ${owner} for too long; remove ${file} if it hangs`);
      if (!told && Date.now() - began > QUIET_MS) {
        say(`waiting for the ${name} of process ${owner}`);
        told = true;
      }
      await sleep(50);
    }
  } finally {
    fs.rmSync(mine, { force: true });
  }
}

function tryLink(from, to) {
  try {
    fs.linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

function ownerOf(file) {
  try {
    return Number(fs.readFileSync(file, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Renamed before it is removed, so that only one of several waiters removes this lock and none removes a newer one. */
function removeStale(file, owner) {
  const aside = `${file}.stale.${process.pid}`;
  try {
    fs.renameSync(file, aside);
  } catch (error) {
    if (error.code === "ENOENT") return;
    throw error;
  }
  if (ownerOf(aside) !== owner) tryLink(aside, file);
  fs.rmSync(aside, { force: true });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
