/**
 * A task file: a markdown checklist whose items are work for agents.
 *
 *   - [ ] 1. Analyze the authentication code
 *     <!-- agent: security-expert -->
 *     <!-- turns: 2 -->
 *     Turn 1: Initial analysis
 *     Turn 2: Generate a remediation plan
 *   - [ ] 2. Write the tests <!-- after: 1 -->
 *
 * Only the boxes are required. Annotations above the first item (agent, model, budget) are defaults for all items.
 */

import { HoldfastError } from "@holdfast/contract/errors";
import type { BudgetRequest } from "@holdfast/contract/usage/budget";
import { editDistance } from "@holdfast/platform/edit-distance";
import { parseBudget } from "../usage/budget-flag.ts";
import { decoded, type Line, type ScannedItem, scan } from "./scan.ts";

export interface TaskItem {
  /** The item's number in the file, or else its position among the items. */
  label: string;
  line: number;
  done: boolean;
  title: string;
  /** The prompt of each turn; at least one. */
  turns: string[];
  /** An agent or a persona. */
  agent: string | undefined;
  model: string | undefined;
  budget: BudgetRequest | undefined;
  /** Items that must be done first. */
  after: TaskItem[];
  scanned: ScannedItem;
}

export interface Fault {
  line: number;
  what: string;
  expected: string;
}

const KEYS = ["agent", "turns", "after", "budget", "model"] as const;
type Key = (typeof KEYS)[number];
type Said = Partial<Record<Key, { value: string; line: number }>>;

const MOST_TURNS = 100;
/** Prompt of further turns, if the item gives their number but no text. */
const GO_ON = (turn: number, turns: number) => `Continue. This is turn ${turn} of ${turns}.`;

/** Throws `task_file_invalid` with every error, its line and the expected form. */
export function parseTaskFile(file: string, bytes: string): TaskItem[] {
  const faults: Fault[] = [];
  const items = readItems(bytes, faults);
  if (faults.length === 0) return items;
  const told = faults.sort((a, b) => a.line - b.line).map(({ line, what, expected }) => `${file}:${line}: ${what}; expected ${expected}`);
  throw new HoldfastError("task_file_invalid", told.join("\n"), { hint: "holdfast task run --help has an example; nothing was started" });
}

function readItems(bytes: string, faults: Fault[]): TaskItem[] {
  const scanned = scan(bytes);
  for (const { number } of scanned.slips)
    faults.push({ line: number, what: "not a valid checkbox", expected: "- [ ] and a space, then the task" });
  const defaults = annotations(scanned.head, { faults, keys: ["agent", "model", "budget"] });
  const drafts = scanned.items.map((item, index) => readItem(item, { place: index + 1, defaults, faults }));
  if (drafts.length === 0 && faults.length === 0)
    faults.push({ line: 1, what: "the file has no items", expected: "a line such as: - [ ] 1. Write the missing tests" });
  for (const { item, after } of drafts) if (after) item.after = named(after, drafts, faults);
  const items = drafts.map(({ item }) => item);
  if (faults.length === 0) refuseCycles(items, drafts, faults);
  return items;
}

interface Draft {
  item: TaskItem;
  after: { value: string; line: number } | undefined;
}

function readItem(scanned: ScannedItem, { place, defaults, faults }: { place: number; defaults: Said; faults: Fault[] }): Draft {
  const own = [{ number: scanned.line, text: scanned.rest, code: false }, ...scanned.body];
  const said = { ...defaults, ...annotations(own, { faults, keys: KEYS }) };
  const [, number, title = ""] =
    /^(?:(\d+(?:\.\d+)+|\d+(?=[.):]))[.):]?(?:[ \t]+|$))?(.*)$/s.exec(withoutComments(scanned.rest).trim()) ?? [];
  const numbered = /^\d/.test(scanned.marker) ? scanned.marker.slice(0, -1) : undefined;
  if (title.trim() === "") faults.push({ line: scanned.line, what: "the item has no text", expected: "the task after the box" });
  const { text, turns } = readTurns(scanned.body, faults);
  const words = [title, text].filter((part) => part !== "").join("\n\n");
  const item: TaskItem = {
    label: number ?? numbered ?? String(place),
    line: scanned.line,
    done: scanned.done,
    title,
    turns: turnsOf({ words, turns, wanted: said.turns }, faults),
    agent: said.agent?.value,
    model: said.model?.value,
    budget: budgetOf(said.budget, faults),
    after: [],
    scanned,
  };
  return { item, after: said.after };
}

/** Also matches quoted code, which is skipped. */
const ANNOTATION = /`+[^`]*`+|<!--[ \t]*([A-Za-z][\w-]*)[ \t]*:[ \t]*(.*?)[ \t]*(-->|$)/g;

/** Reads `<!-- key: value -->`. Of other comments, reports only those that were most likely meant as one. */
function annotations(lines: readonly Line[], { faults, keys }: { faults: Fault[]; keys: readonly Key[] }): Said {
  const said: Said = {};
  for (const { number: line, text, code } of lines) {
    if (code) continue;
    for (const [, word, bytes = "", end] of text.matchAll(ANNOTATION)) {
      if (word === undefined) continue;
      const key = keys.find((each) => each === word.toLowerCase());
      const value = decoded(bytes);
      const fault = (what: string, expected: string) => void faults.push({ line, what, expected });
      if (end === "") {
        if (key !== undefined) fault(`${key} is in a comment that does not end on the same line`, EXAMPLES[key]);
        continue;
      }
      if (key !== undefined && said[key] !== undefined) fault(`${key} is set twice, also in line ${said[key].line}`, "only one of them");
      else if (key !== undefined && value === "") fault(`${key} is empty`, EXAMPLES[key]);
      else if (key !== undefined) said[key] = { value, line };
      else if ((KEYS as readonly string[]).includes(word.toLowerCase())) fault(`${word} applies to one item`, "it below that item");
      else {
        const near = KEYS.find((each) => editDistance(each, word.toLowerCase()) <= (each.length > 4 ? 2 : 1));
        if (near !== undefined) fault(`${word} is not a setting`, EXAMPLES[near]);
      }
    }
  }
  return said;
}

const EXAMPLES: Record<Key, string> = {
  agent: "<!-- agent: claude -->, or the name of a persona",
  turns: "<!-- turns: 3 -->",
  after: "<!-- after: 1,2 -->, numbers of other items",
  budget: "<!-- budget: turns=10,minutes=30,tokens=200k,cost=2.50 -->",
  model: "<!-- model: opus -->",
};

/** The text of an item and its turns, without annotations and dedented. */
function readTurns(body: readonly Line[], faults: Fault[]): { text: string; turns: { line: number; text: string }[] } {
  const turns: { number: number; line: number; lines: string[] }[] = [];
  const text: string[] = [];
  for (const { number: line, text: bytes, code } of body) {
    const shown = code ? decoded(bytes) : withoutComments(bytes);
    const [, count, first = ""] = (!code && /^[ \t]*Turn[ \t]+(\d+)[ \t]*:[ \t]*(.*)$/i.exec(shown)) || [];
    if (count !== undefined) turns.push({ number: Number(count), line, lines: [first] });
    else if (code || shown.trim() !== "" || /^[ \t]*$/.test(bytes)) (turns.at(-1)?.lines ?? text).push(shown);
  }
  for (const [index, { number, line }] of turns.entries()) {
    if (number === index + 1) continue;
    faults.push({ line, what: `this is turn ${index + 1} of the item, not ${number}`, expected: `Turn ${index + 1}:` });
    break;
  }
  const told = turns.map(({ line, lines }) => ({ line, text: dedented(lines.slice(1), lines[0]) }));
  for (const turn of told)
    if (turn.text === "") faults.push({ line: turn.line, what: "the turn has no text", expected: "its prompt after the colon" });
  return { text: dedented(text), turns: told };
}

type Wanted = { words: string; turns: { line: number; text: string }[]; wanted: { value: string; line: number } | undefined };

function turnsOf({ words, turns, wanted }: Wanted, faults: Fault[]): string[] {
  const count = wanted === undefined ? undefined : Number(wanted.value);
  if (wanted !== undefined && !(Number.isInteger(count) && Number(count) >= 1 && Number(count) <= MOST_TURNS)) {
    faults.push({ line: wanted.line, what: `the number of turns cannot be ${wanted.value}`, expected: `a number from 1 to ${MOST_TURNS}` });
    return [words];
  }
  if (wanted !== undefined && turns.length > 0 && turns.length !== count) {
    const expected = `<!-- turns: ${turns.length} -->, or ${count} lines that begin with Turn 1:, Turn 2:, …`;
    faults.push({ line: wanted.line, what: `turns is ${count}, but the item has ${turns.length}`, expected });
  }
  if (turns.length === 0) return [words, ...Array.from({ length: (count ?? 1) - 1 }, (_, index) => GO_ON(index + 2, count ?? 1))];
  return turns.map(({ text }, index) => (index === 0 ? [words, text].filter((part) => part !== "").join("\n\n") : text));
}

/** As in `--budget`; `$2` alone is the cost. */
function budgetOf(said: { value: string; line: number } | undefined, faults: Fault[]): BudgetRequest | undefined {
  if (said === undefined) return undefined;
  try {
    return parseBudget(said.value.startsWith("$") ? `cost=${said.value.slice(1)}` : said.value);
  } catch (error) {
    if (!faults.some(({ line }) => line === said.line))
      faults.push({ line: said.line, what: HoldfastError.from(error).message.replace("--", ""), expected: EXAMPLES.budget });
    return undefined;
  }
}

function named(after: { value: string; line: number }, drafts: readonly Draft[], faults: Fault[]): TaskItem[] {
  return after.value.split(/[\s,]+/).flatMap((label) => {
    const meant = drafts.filter(({ item }) => item.label === label).map(({ item }) => item);
    const [first, second] = meant;
    const expected = "the number of another item";
    if (label === "") return [];
    if (first === undefined) faults.push({ line: after.line, what: `there is no item ${label}`, expected });
    else if (second !== undefined)
      faults.push({ line: after.line, what: `${label} is the number of two items, in lines ${first.line} and ${second.line}`, expected });
    return meant.slice(0, 1);
  });
}

/** Reports each cycle once, at its first item. */
function refuseCycles(items: readonly TaskItem[], drafts: readonly Draft[], faults: Fault[]): void {
  const settled = new Set<TaskItem>();
  const visit = (item: TaskItem, path: readonly TaskItem[]): void => {
    const at = path.indexOf(item);
    if (at !== -1) {
      const circle = path.slice(at);
      const line = drafts.find((draft) => draft.item === item)?.after?.line ?? item.line;
      const round = [...circle, item].map(({ label }) => label).join(" after ");
      if (!circle.some((each) => settled.has(each)))
        faults.push({ line, what: `these items wait for each other: ${round}`, expected: "no cycle" });
      for (const each of circle) settled.add(each);
      return;
    }
    if (settled.has(item)) return;
    for (const before of item.after) visit(before, [...path, item]);
    settled.add(item);
  };
  for (const item of items) visit(item, []);
}

function withoutComments(bytes: string): string {
  return decoded(bytes.replaceAll(/(`+[^`]*`+)|[ \t]*<!--.*?-->/g, "$1"));
}

/** `first` is the text before the other lines, and is not dedented. */
function dedented(lines: readonly string[], first?: string): string {
  const depth = Math.min(...lines.filter((line) => line.trim() !== "").map((line) => /^[ \t]*/.exec(line)?.[0].length ?? 0));
  const shifted = lines.map((line) => line.slice(Math.min(depth, /^[ \t]*/.exec(line)?.[0].length ?? 0)).trimEnd());
  return [...(first === undefined ? [] : [first.trim()]), ...shifted].join("\n").trim();
}
