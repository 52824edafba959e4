/**
 * Defines a benchmark and its result. A benchmark measures subject and baseline alternately, round by round, so that other load on the
 * machine affects both. Ratios are computed per round, and a budget limits their median. Nothing here asserts a time: a missed budget is
 * reported, never a failure.
 */
export interface Benchmark {
  readonly name: string;
  /** One sentence: the measured time, from which event to which. */
  readonly measures: string;
  readonly baseline: string;
  readonly budget: string;
  run(scale: Scale): Promise<Row[]>;
  /** Results that do not fit into rows: headings, then lines. */
  table?(): string[][];
}

/** How much to measure: `rounds` and `samples` return the numbers from the command line, or the usual number or fewer. */
export interface Scale {
  readonly quick: boolean;
  rounds(usual: number): number;
  samples(usual: number): number;
}

export interface Row {
  what: string;
  unit: string;
  subject: Spread;
  baseline?: Spread & { name: string };
  ratio?: Spread;
  limit?: Limit;
  /** Printed beside a missed budget. */
  whenMissed?: string;
}

/** `of` the median. */
export type Limit = { of: "ratio" | "subject" } & ({ atMost: number } | { atLeast: number });

/** The median and the usual range: p10 to p90 of ten or more values, else minimum and maximum. */
export interface Spread {
  median: number;
  low: number;
  high: number;
  n: number;
}

export function spread(values: readonly number[]): Spread {
  const wide = values.length >= 10;
  return { median: quantile(values, 0.5), low: quantile(values, wide ? 0.1 : 0), high: quantile(values, wide ? 0.9 : 1), n: values.length };
}

/** By linear interpolation between the two nearest values. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * q;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}

/** A row of values measured in the same rounds, in the same order. */
export function compared(
  row: Pick<Row, "what" | "unit" | "limit" | "whenMissed">,
  subject: readonly number[],
  baseline: { name: string; values: readonly number[] },
): Row {
  const ratios = subject.map((value, round) => value / (baseline.values[round] ?? Number.NaN));
  return { ...row, subject: spread(subject), baseline: { name: baseline.name, ...spread(baseline.values) }, ratio: spread(ratios) };
}

export type Verdict = "met" | "missed" | "none";

export function verdict(row: Row): Verdict {
  if (!row.limit) return "none";
  const value = row.limit.of === "ratio" ? row.ratio?.median : row.subject.median;
  if (value === undefined) return "none";
  const met = "atMost" in row.limit ? value <= row.limit.atMost : value >= row.limit.atLeast;
  return met ? "met" : "missed";
}

/** Rotates the order of the measurements from round to round, so that none is always first. */
export async function inTurns<K extends string>(
  rounds: number,
  measurements: Readonly<Record<K, () => number | Promise<number>>>,
): Promise<Record<K, number[]>> {
  const names = Object.keys(measurements) as K[];
  const values = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<K, number[]>;
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(turn + round) % names.length] as K;
      values[name].push(await measurements[name]());
    }
  }
  return values;
}
