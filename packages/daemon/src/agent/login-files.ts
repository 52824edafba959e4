/** Detects an agent's login by its files alone. Their contents are never passed on. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJsonFile } from "@holdfast/platform";

/** True if one of these files exists, or one of these values in a JSON file: `["settings.json", "security.auth.selectedType"]`. */
export function loginIn(home: string, signs: readonly (string | readonly [file: string, key: string])[]): boolean {
  return signs.some((sign) => {
    if (typeof sign === "string") return existsSync(join(home, sign));
    let value: unknown = readJson(join(home, sign[0]));
    for (const key of sign[1].split(".")) value = (value as Record<string, unknown> | undefined | null)?.[key];
    return Boolean(value);
  });
}

function readJson(file: string): unknown {
  try {
    return readJsonFile(file);
  } catch {
    return undefined;
  }
}
