import type { HoldfastError } from "@holdfast/contract/errors";
import { isSimilar } from "@holdfast/platform/edit-distance";
import { color } from "../text/color.ts";
import { cut } from "../text/fit.ts";
import { plain } from "../text/plain.ts";
import { safeJson } from "./safe-output.ts";

/** Prints the error, its hint and suggestions; returns the exit code. */
export function printError(error: HoldfastError, options: { json: boolean }): number {
  if (options.json) {
    process.stderr.write(safeJson(`${JSON.stringify({ error: error.toBody() })}\n`));
    return error.exitCode;
  }
  // The first line is the error; further lines are output of a program, or what would be lost.
  const [first = "", ...more] = error.message.split("\n").map(plain);
  const lines = [`${color("red", "holdfast:", process.stderr)} ${first}`, ...more.map((line) => `  ${line}`)];
  lines.push(...candidateLines(error));
  if (error.code === "stale_value") lines.push(`  it is now: ${currentValue(error)}`);
  if (error.hint) lines.push(`  ${color("dim", plain(error.hint), process.stderr)}`);
  if (error.code === "internal" && process.env.HOLDFAST_DEBUG) lines.push(String((error.cause as Error | undefined)?.stack ?? error.stack));
  process.stderr.write(`${lines.join("\n")}\n`);
  return error.exitCode;
}

const LONGEST_VALUE = 200;

function currentValue({ details }: HoldfastError): string {
  const current = details?.current as { value: unknown } | null | undefined;
  return current ? cut(plain(JSON.stringify(current.value)), LONGEST_VALUE) : "not there";
}

/** Errors whose candidates are files, commits or sessions, listed one per line instead of as suggestions. */
const LISTS: ReadonlySet<string> = new Set(["merge_conflict", "merge_refused", "would_lose_work", "workspace_lived_in"]);
const MOST_LISTED = 30;

function candidateLines({ code, message, candidates = [] }: HoldfastError): string[] {
  if (candidates.length === 0) return [];
  if (!LISTS.has(code)) {
    const guesses = guessesIn(message, candidates);
    const [words, names] = guesses.length > 0 ? ["did you mean", guesses] : ["choose from", candidates];
    return [`  ${words}: ${names.map(plain).join(", ")}`];
  }
  const more = candidates.length - MOST_LISTED;
  return [...candidates.slice(0, MOST_LISTED).map((each) => `    ${plain(each)}`), ...(more > 0 ? [`    and ${more} more`] : [])];
}

/** Candidates similar to the word that the message quotes, or to its flag. */
function guessesIn(message: string, candidates: readonly string[]): string[] {
  const asked = /"([^"]+)"/.exec(message)?.[1] ?? /(?<= )--?[\w-]+/.exec(message)?.[0];
  const word = bare(asked ?? "");
  if (word === "") return [];
  return candidates.filter((each) => isSimilar(bare(each), word));
}

function bare(name: string): string {
  return name.toLowerCase().replace(/^-+/, "");
}
