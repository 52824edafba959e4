/** Violations by file and rule. */
export type Counts = Record<string, Record<string, number>>;

/** Files and rules with more violations than the baseline allows. */
export function above(found: Counts, baseline: Counts): { file: string; rule: string; allowed: number }[] {
  return Object.entries(found).flatMap(([file, rules]) =>
    Object.entries(rules).flatMap(([rule, count]) => {
      const allowed = baseline[file]?.[rule] ?? 0;
      return count > allowed ? [{ file, rule, allowed }] : [];
    }),
  );
}

/** The baseline without the corrected violations. It never grows: a renamed file may only take over the counts of deleted files. */
export function lowered(baseline: Counts, found: Counts, exists: (file: string) => boolean): Counts {
  const free: Record<string, number> = {};
  for (const [file, rules] of Object.entries(baseline)) {
    if (!exists(file)) for (const [rule, count] of Object.entries(rules)) free[rule] = (free[rule] ?? 0) + count;
  }
  const next: Counts = {};
  for (const file of Object.keys(found).sort()) {
    for (const [rule, count] of Object.entries(found[file] ?? {}).sort()) {
      const known = baseline[file]?.[rule] ?? 0;
      const taken = file in baseline ? 0 : Math.min(free[rule] ?? 0, count);
      free[rule] = (free[rule] ?? 0) - taken;
      const allowed = Math.min(count, known + taken);
      if (allowed > 0) next[file] = { ...next[file], [rule]: allowed };
    }
  }
  return next;
}

export function total(counts: Counts): number {
  return Object.values(counts)
    .flatMap((rules) => Object.values(rules))
    .reduce((sum, count) => sum + count, 0);
}
