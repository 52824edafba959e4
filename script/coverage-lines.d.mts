export const PROCESSES: string;
export interface Lines {
  file: string;
  total: number;
  covered: number;
  missing: number[];
}
export function linesOf(of: { measured: object; processes: string; root: string; files: readonly string[] }): Lines[];
export function verdict(counts: readonly Lines[], allLines?: boolean): { lines: string[]; isEnough: boolean };
