export const ASKED: number;
export const AREA: readonly string[];
export const NOT_MEASURED: Readonly<Record<string, string>>;
export function areaFiles(): string[];
export function areaTests(): string[];
