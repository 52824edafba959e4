/** The front matter of a markdown file: its fields with their line numbers, and the text below it. */
import type { LineCounter, parseDocument } from "yaml";

export interface Field {
  value: unknown;
  line: number;
}

export interface Wrong {
  line: number;
  what: string;
  expected: string;
}

export interface FrontMatter {
  fields: Map<string, Field>;
  body: string;
}

/** Passed in by the caller, so that it is loaded only when a persona is read. */
export interface Yaml {
  parseDocument: typeof parseDocument;
  LineCounter: typeof LineCounter;
}

/**
 * `lenient`: if the text is not YAML, each line `name: text` is taken literally, as Claude Code does. Many descriptions contain a colon.
 */
export function frontMatter(text: string, { yaml, lenient }: { yaml: Yaml; lenient: boolean }): FrontMatter | Wrong {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines[0]?.trimEnd() !== "---")
    return {
      line: 1,
      what: "it has no front matter",
      expected: "a line --- at the top, then name: and description:, then another line ---",
    };
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---");
  if (end === -1) return { line: 1, what: "its front matter does not end", expected: "another line --- below the fields" };
  const head = lines.slice(1, end);
  const body = lines
    .slice(end + 1)
    .join("\n")
    .trim();
  const read = asYaml(head.join("\n"), yaml);
  if (!("line" in read)) return { fields: read, body };
  return lenient ? { fields: asLines(head), body } : read;
}

/** The parser is slow on deep nesting, and the file may be a stranger's. Fields are texts and lists. */
const MOST_BRACKETS = 100;
const MOST_BYTES = 32 * 1024;

function asYaml(head: string, { parseDocument, LineCounter }: Yaml): Map<string, Field> | Wrong {
  if (head.length > MOST_BYTES) return { line: 2, what: "the front matter is longer than 32 KB", expected: "a name and a few sentences" };
  if ((head.match(/[[{]/g)?.length ?? 0) > MOST_BRACKETS || /^[ \t]*(?:[-?][ \t]+){10}/m.test(head))
    return { line: 2, what: "the front matter is too deeply nested", expected: "texts, and lists of texts" };
  const counter = new LineCounter();
  const document = parseDocument(head, { lineCounter: counter, prettyErrors: false });
  /** Line in the file: the front matter begins on its second line. */
  const lineAt = (offset: number) => counter.linePos(offset).line + 1;
  const [error] = document.errors;
  if (error) {
    const expected = "name: text; in quotes where it has a colon, a # or a bracket in it";
    return { line: lineAt(error.pos[0]), what: `the front matter is not YAML: ${firstLine(error.message)}`, expected };
  }
  const fields = new Map<string, Field>();
  const contents = document.contents as { items?: { key?: { value?: unknown; range?: number[] | null } }[] } | null;
  const values = document.toJS() as unknown;
  if (typeof values !== "object" || values === null || Array.isArray(values))
    return { line: 2, what: "the front matter has no fields", expected: "name: and description:" };
  for (const { key } of contents?.items ?? []) {
    const name = String(key?.value ?? "");
    fields.set(name, { value: (values as Record<string, unknown>)[name], line: lineAt(key?.range?.[0] ?? 0) });
  }
  return fields;
}

/** A line that is not a field continues the field above. */
function asLines(head: readonly string[]): Map<string, Field> {
  const fields = new Map<string, Field>();
  let last: Field | undefined;
  for (const [index, line] of head.entries()) {
    const [, name, value = ""] = /^([A-Za-z][\w-]*):(?:\s+(.*))?$/.exec(line) ?? [];
    if (name !== undefined) {
      last = { value: unquoted(value.trim()), line: index + 2 };
      fields.set(name, last);
    } else if (last !== undefined && line.trim() !== "") last.value = `${String(last.value)}\n${line.trim()}`.trim();
  }
  return fields;
}

function unquoted(text: string): string {
  return /^(["']).*\1$/.test(text) && text.length > 1 ? text.slice(1, -1) : text;
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}
