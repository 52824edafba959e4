/** Segments of a recording, as both keepers name them: `output.000000`, …, and `output-001.000000`, … for a recorder that replaced another. */
export const SEGMENT_BYTES = 1 << 20;

export interface SegmentName {
  name: string;
  generation: number;
  number: number;
}

const SEGMENT = /^output(?:-(\d{3}))?\.(\d{6,})$/;

export function parseSegmentName(name: string): SegmentName | undefined {
  const match = SEGMENT.exec(name);
  return match ? { name, generation: Number(match[1] ?? 0), number: Number(match[2]) } : undefined;
}

/** Prefix of a recorder's segments, before the number. */
export function segmentPrefix(generation: number): string {
  return generation === 0 ? "output." : `output-${String(generation).padStart(3, "0")}.`;
}

/** Segment of the first recorder. */
export function segmentName(number: number): string {
  return `${segmentPrefix(0)}${String(number).padStart(6, "0")}`;
}

/** The segments among file names, in the order in which they were written. */
export function segmentNames(files: readonly string[]): SegmentName[] {
  const names = files.flatMap((name) => parseSegmentName(name) ?? []);
  return names.sort((a, b) => a.generation - b.generation || a.number - b.number);
}
