/** Adds an entry to another program's configuration: existing content stays unchanged, and an unreadable file is not touched. */
import { mkdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import { writeFileAtomic } from "@holdfast/platform/files";
import { parse, stringify } from "smol-toml";
import type { Place, Server } from "./entries.ts";

export const NAME = "holdfast";

/** The entry in the file's own syntax. */
export function textOf(place: Place, server: Server): string {
  const entry = place.entry(server);
  if (place.format === "toml") return stringify({ [place.under]: { [NAME]: entry } });
  return `${JSON.stringify({ [place.under]: { [NAME]: entry } }, null, 2)}\n`;
}

export type Outcome = "written" | "replaced" | "there already";

/** `force`: replaces another entry of this name. */
export function write(place: Place, { file: named, server, force }: { file: string; server: Server; force: boolean }): Outcome {
  const file = realFile(named);
  const before = readIfThere(file);
  const values = before === undefined ? {} : parsed(place, { file, text: before });
  const servers = values[place.under] ?? {};
  if (!isTable(servers)) throw unreadable(file, `${place.under} is no table`);
  const entry = place.entry(server);
  const old = servers[NAME];
  if (old !== undefined && isSame(old, entry)) return "there already";
  if (old !== undefined && !force) {
    throw new HoldfastError("file_exists", `${file} already has another server named ${NAME}`, {
      hint: "--force replaces it",
    });
  }
  if (old !== undefined && place.format === "toml") {
    throw unreadable(file, `${place.under}.${NAME} must be replaced by hand`);
  }
  const text =
    place.format === "toml"
      ? `${before === undefined || before === "" ? "" : `${before.replace(/\n*$/, "\n")}\n`}${textOf(place, server)}\n`
      : `${JSON.stringify({ ...values, [place.under]: { ...servers, [NAME]: entry } }, null, indentOf(before))}\n`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileAtomic(file, text, (statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777);
  return old === undefined ? "written" : "replaced";
}

/** Resolves a symbolic link, so that the link is kept. */
function realFile(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new HoldfastError("file_unusable", `${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

function parsed(place: Place, { file, text }: { file: string; text: string }): Record<string, unknown> {
  try {
    const values = place.format === "toml" ? parse(text) : (JSON.parse(text === "" ? "{}" : text) as unknown);
    if (isTable(values)) return values;
  } catch {
    // The file may contain comments, which rewriting would lose.
  }
  throw unreadable(file, `it is not plain ${place.format.toUpperCase()}`);
}

function unreadable(file: string, why: string): HoldfastError {
  return new HoldfastError("file_unusable", `${file} was not changed: ${why}`, {
    hint: "run the command without --write and add the entry by hand",
  });
}

/** The file's own indentation. */
function indentOf(text: string | undefined): string | number {
  return /^\{\r?\n([ \t]+)/.exec(text ?? "")?.[1] ?? 2;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
