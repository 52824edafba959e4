/** Ways to damage a file, and the cells of the table in docs/DAMAGE.md: each cell is a test. */
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { test } from "vitest";

export type Damage = "missing" | "empty" | "torn" | "garbage";

/** Printed with every failure, to repeat it: DAMAGE_SEED=… npx vitest … */
export const SEED = Number(process.env.DAMAGE_SEED ?? Math.floor(Math.random() * 2 ** 31));

export type Random = () => number;

/** mulberry32: from 0 to below 1. */
export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function noise(length: number, random: Random = randomFrom(SEED)): Buffer {
  return Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
}

export function damage(path: string, how: Damage): void {
  const size = statSync(path).size;
  if (how === "missing") rmSync(path);
  else if (how === "empty") truncateSync(path, 0);
  else if (how === "torn") truncateSync(path, Math.floor(size / 2));
  else writeFileSync(path, noise(Math.max(64, size)));
}

/** Overwrites a part of the file in place. */
export function overwrite(path: string, at: number, bytes: Buffer): void {
  const content = readFileSync(path);
  bytes.copy(content, Math.min(at, content.length));
  writeFileSync(path, content);
}

/** One test for each kind of damage; docs/DAMAGE.md shows the outcomes. */
export function cells(
  file: string,
  outcomes: Readonly<Record<Damage, string>>,
  check: (how: Damage, hurt: (path: string) => void) => void | Promise<void>,
): void {
  for (const [how, outcome] of Object.entries(outcomes) as [Damage, string][]) {
    test.concurrent(`[damage: ${file}, ${how}] ${outcome} [seed ${SEED}]`, async () => {
      await check(how, (path) => damage(path, how));
    });
  }
}
