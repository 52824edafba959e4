/** Finds the sentences that people read: in Markdown, and in the strings of the source that are help, errors, hints and descriptions. */
import { parseAst } from "rolldown/parseAst";

export interface Sentence {
  line: number;
  text: string;
}

/** Paragraphs, list items, table cells and headings. Code is not prose: blocks are skipped, and inline code counts as one word. */
export function sentencesInMarkdown(source: string): Sentence[] {
  const sentences: Sentence[] = [];
  let paragraph: { line: number; text: string } | undefined;
  let fence: string | undefined;
  const end = () => {
    if (paragraph) sentences.push(...split(paragraph));
    paragraph = undefined;
  };
  for (const [index, line] of source.split("\n").entries()) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (fence !== undefined || mark !== undefined) {
      end();
      if (fence === undefined) fence = mark;
      else if (mark?.startsWith(fence)) fence = undefined;
      continue;
    }
    const isTable = /^\s*\|/.test(line);
    if (isTable || line.trim() === "" || /^\s*(?:#{1,6} |[-*+] |\d+\. |<!--|<\/?\w)/.test(line)) end();
    if (/^\s*(?:<!--|<\/?\w|\[[^\]]+\]: )/.test(line) || line.trim() === "") continue;
    if (isTable) for (const cell of line.replace(/\\\|/g, "¦").split("|")) sentences.push(...split({ line: index + 1, text: prose(cell) }));
    else if (paragraph === undefined) paragraph = { line: index + 1, text: prose(line.replace(/^\s*(?:#{1,6} |[-*+] |\d+\. |> ?)/, "")) };
    else paragraph.text += `\n${prose(line)}`;
    if (/^#{1,6} /.test(line)) end();
  }
  end();
  return sentences;
}

/** The text without markup and addresses. */
function prose(line: string): string {
  return line
    .replace(/`+[^`]*`+/g, "CODE")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/<[^>]*>/g, "")
    .replace(/\*\*|__|(?<!\w)[*_]|[*_](?!\w)/g, "");
}

type Node = { type: string; start: number } & Record<string, unknown>;

const TEXT_KEYS = ["summary", "description", "hint", "message", "title", "note"];
const TEXT_CALLS = /^(?:\w*Error|describe|warn|say|note)$/;

/** Strings for people, by their position: values of `summary`, `hint` and the like, arguments of errors, comments of examples. */
export function sentencesInSource(source: string): Sentence[] {
  const sentences: Sentence[] = [];
  const walk = (value: unknown, isText: boolean): void => {
    if (Array.isArray(value)) for (const each of value) walk(each, isText);
    if (!isNode(value)) return;
    const text = isText ? textOf(value) : undefined;
    if (text !== undefined) {
      const line = source.slice(0, value.start).split("\n").length;
      for (const paragraph of text.replace(/`[^`]*`/g, "CODE").split(/\n\n|\n(?= {2})/))
        sentences.push(...split({ line, text: paragraph }).map((sentence) => ({ ...sentence, line })));
      if (value.type === "Literal") return;
    }
    for (const [key, child] of Object.entries(value)) {
      if (typeof child === "object" && child !== null) walk(child, isTextPlace(value, key) || (isText && keepsPlace(value, key)));
    }
  };
  walk(parseAst(source, { lang: "ts" }), false);
  return sentences;
}

/** Whether a child of the node is a text for people. */
function isTextPlace(node: Node, key: string): boolean {
  if (key === "arguments" && (node.type === "NewExpression" || node.type === "CallExpression")) return TEXT_CALLS.test(nameOf(node.callee));
  if (key !== "value" || node.type !== "Property") return false;
  const name = nameOf(node.key);
  return TEXT_KEYS.includes(name) || name === "examples";
}

/** Both sides of a conditional are texts, and so are the elements of a list of texts. */
function keepsPlace(node: Node, key: string): boolean {
  if (node.type === "ConditionalExpression") return key === "consequent" || key === "alternate";
  return node.type === "ArrayExpression" || (node.type === "LogicalExpression" && key === "right");
}

/** A string, a template with X for each value, or a sum of them. */
function textOf(node: Node): string | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type === "TemplateLiteral") return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join("X");
  if (node.type !== "BinaryExpression" || node.operator !== "+") return undefined;
  const sides = [node.left, node.right].map((side) => (isNode(side) ? textOf(side) : undefined));
  return sides.every((side) => side === undefined) ? undefined : sides.map((side) => side ?? "X").join("");
}

function nameOf(value: unknown): string {
  if (!isNode(value)) return "";
  if (value.type === "MemberExpression") return nameOf(value.property);
  return String(value.name ?? value.value ?? "");
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}

/** Each sentence with the number of its first line. A line break within a sentence counts as a space. */
function split({ line, text }: Sentence): Sentence[] {
  const sentences: Sentence[] = [];
  let at = 0;
  for (const piece of text.split(/(?<=[.!?…:][)”"’]?)\s+(?=[\p{Lu}“"(]|--\p{L})|\n(?=\s*[\p{Lu}-])(?<=[.!?:]\s*\n)/u)) {
    const start = text.indexOf(piece, at);
    at = start + piece.length;
    const lead = piece.length - piece.trimStart().length;
    const words = piece.trim().replace(/\s+/g, " ");
    // Single words and code are not sentences.
    if (/\p{L}+ \S*\p{L}/u.test(words)) sentences.push({ line: line + text.slice(0, start + lead).split("\n").length - 1, text: words });
  }
  return sentences;
}
