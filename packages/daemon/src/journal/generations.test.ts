import type { Backup } from "@holdfast/contract";
import { expect, test } from "vitest";
import { surplus } from "./generations.ts";

const NOW = Date.UTC(2026, 10, 15, 12, 0, 0);
const MINUTE = 60_000;

function backup(minutesAgo: number, more: Partial<Backup> = {}): Backup {
  const at = new Date(NOW - minutesAgo * MINUTE).toISOString();
  return { name: at, at, why: "timer", seq: 1, bytes: 1 << 20, ...more };
}

function everyTenMinutes(days: number): Backup[] {
  return Array.from({ length: days * 144 }, (_, i) => backup(i * 10));
}

test("the newest three stay, then one for each of the last hours, then one for each of the last days", () => {
  const all = everyTenMinutes(30);
  const gone = new Set(surplus(all));
  const kept = all.filter((each) => !gone.has(each));
  expect(kept.slice(0, 3)).toEqual(all.slice(0, 3));
  expect(kept.length).toBeLessThanOrEqual(3 + 6 + 7);
  expect(new Set(kept.map(({ at }) => at.slice(0, 10))).size).toBe(7);
  expect(new Set(kept.filter(({ at }) => Date.parse(at) > NOW - 5 * 60 * MINUTE).map(({ at }) => at.slice(0, 13))).size).toBeGreaterThan(4);
});

test("thinned after each backup, they stay bounded and reach back a week", () => {
  let kept: Backup[] = [];
  for (const each of everyTenMinutes(14).reverse()) {
    kept = [each, ...kept];
    const gone = surplus(kept);
    kept = kept.filter((other) => !gone.includes(other));
    expect(kept.length).toBeLessThanOrEqual(16);
  }
  expect(NOW - Date.parse(kept.at(-1)?.at ?? "")).toBeGreaterThan(5 * 24 * 60 * MINUTE);
});

test("backups from before a migration or a restore stay longer than others of their age", () => {
  const all = [...everyTenMinutes(1), backup(60 * 24 * 20, { why: "migration" }), backup(60 * 24 * 21, { why: "migration" })];
  expect(surplus(all).filter(({ why }) => why === "migration")).toEqual([]);
});

test("the last five requested backups stay, regardless of age", () => {
  const asked = Array.from({ length: 7 }, (_, i) => backup(60 * 24 * (20 + i), { why: "asked" }));
  expect(surplus([...everyTenMinutes(1), ...asked]).filter(({ why }) => why === "asked")).toEqual(asked.slice(5));
});

test("fewer large backups are kept, but at least two", () => {
  const large = everyTenMinutes(3).map((each) => ({ ...each, bytes: 1.5 * 2 ** 30 }));
  expect(large.length - surplus(large).length).toBe(2);
  const huge = everyTenMinutes(3).map((each) => ({ ...each, bytes: 10 * 2 ** 30 }));
  expect(huge.filter((each) => !surplus(huge).includes(each))).toEqual(huge.slice(0, 2));
});
