import type { HoldfastError } from "@holdfast/contract";
import type { Check } from "./check.ts";

/** The current config.toml; the daemon may have read an earlier one. */
export interface ConfigurationLook {
  file: string;
  isThere: boolean;
  /** The file is invalid, and no daemon starts with it. */
  error: HoldfastError | undefined;
  /** Descriptions of unknown keys. */
  unknown: readonly string[];
}

export function configuration({ file, isThere, error, unknown }: ConfigurationLook): Check[] {
  const id = "configuration";
  if (error) return [{ id, level: "problem", what: error.message, remedy: error.hint ?? "correct the file" }];
  const remedy = "correct the file, then run: holdfast down; holdfast up";
  if (unknown.length > 0) return unknown.map((what) => ({ id, level: "warning", what, remedy }));
  return [
    { id, level: "ok", what: isThere ? `${file} is valid` : `${file} does not exist: all settings have their defaults`, remedy: null },
  ];
}

/** Why no daemon runs, if a reader answers in its place. */
export function daemonTrouble({ message, hint }: HoldfastError): Check {
  return { id: "daemon", level: "problem", what: message, remedy: hint ?? null };
}
