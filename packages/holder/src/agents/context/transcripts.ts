/** Reads the transcripts of a session's earlier runs. Unreadable lines are skipped: an agent that forgot a line is better than one that does not start. */
import { open, readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { parseEntry } from "@holdfast/contract/conversation/transcript";
import { Listener, type Told } from "./turn.ts";

export async function readTold({ runs, before }: { runs: string; before: number }): Promise<Told> {
  const listener = new Listener();
  const names = await readdir(runs).catch(() => []);
  const numbers = names.filter((name) => /^[1-9]\d*$/.test(name)).map(Number);
  for (const run of numbers.filter((number) => number < before).sort((a, b) => a - b)) await readRun(join(runs, String(run)), listener);
  return listener.told;
}

/** The run whose directory contains the order, so that it is not read as an earlier run. An order outside `runs` comes after all runs. */
export function runOf(order: string, runs: string): number {
  const run = dirname(resolve(order));
  return dirname(run) === resolve(runs) && /^[1-9]\d*$/.test(basename(run)) ? Number(basename(run)) : Number.POSITIVE_INFINITY;
}

async function readRun(directory: string, listener: Listener): Promise<void> {
  const file = await open(join(directory, "transcript.jsonl")).catch(() => undefined);
  if (file === undefined) return;
  await using _ = file;
  for await (const line of file.readLines({ encoding: "utf8" })) {
    const entry = parseEntry(line);
    if (typeof entry === "object") listener.take(entry);
  }
}
