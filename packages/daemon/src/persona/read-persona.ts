/** Reads one persona from the text of its file, with its problems. */
import { checkName, HoldfastError, type Persona } from "@holdfast/contract";
import { type Field, frontMatter, type Wrong, type Yaml } from "./front-matter.ts";

export type PersonaText = Omit<Persona, "source" | "file" | "shadowedBy" | "toolsEnforcedIn">;

export interface ReadPersona {
  /** Undefined if the file is unusable. */
  persona: PersonaText | undefined;
  problems: (Wrong & { usable: boolean })[];
  /** The line of the field `agent`. */
  agentLine?: number | undefined;
}

const FIELDS = ["name", "description", "agent", "model", "tools", "disallowedTools", "permissionMode"] as const;

/** Modes in which the agent asks nobody. A file of a cloned project must not choose one of them. */
const UNASKED = ["bypassPermissions", "auto"];

/** `claude`: reads the file as Claude Code does, and ignores unknown fields. */
export function readPersona(text: string, { yaml, claude }: { yaml: Yaml; claude: boolean }): ReadPersona {
  const matter = frontMatter(text, { yaml, lenient: claude });
  if ("what" in matter) return { persona: undefined, problems: [{ ...matter, usable: false }] };
  const { fields, body } = matter;
  const problems: (Wrong & { usable: boolean })[] = [];
  const wrong = (line: number, what: string, expected: string) => void problems.push({ line, what, expected, usable: false });
  const textOf = (key: string): string | null => {
    const field = fields.get(key);
    if (field === undefined || isEmpty(field)) return null;
    if (typeof field.value === "string" || typeof field.value === "number") return String(field.value).trim();
    wrong(field.line, `${key} is not a text`, `${key}: a text`);
    return null;
  };
  const required = (key: string): string => {
    const before = problems.length;
    const value = textOf(key);
    if (value === null && problems.length === before) wrong(fields.get(key)?.line ?? 2, `${key} is missing`, `${key}: ${EXAMPLES[key]}`);
    return value ?? "";
  };
  const name = required("name");
  const nameTrouble = name === "" ? undefined : wrongName(name, claude);
  if (nameTrouble !== undefined) wrong(fields.get("name")?.line ?? 2, nameTrouble, `name: ${EXAMPLES.name}`);
  const [model, mode] = [textOf("model"), textOf("permissionMode")];
  const persona: PersonaText = {
    name,
    description: required("description"),
    agent: textOf("agent") ?? (claude ? "claude" : null),
    model: model === "inherit" ? null : model,
    tools: toolsIn("tools", { fields, wrong }),
    disallowedTools: toolsIn("disallowedTools", { fields, wrong }) ?? [],
    permissionMode: mode !== null && UNASKED.includes(mode) ? null : mode,
    instructions: body,
  };
  const usable = problems.length === 0;
  if (mode !== persona.permissionMode) {
    const line = fields.get("permissionMode")?.line ?? 2;
    problems.push({ line, what: `permissionMode ${mode} is ignored`, expected: "default, acceptEdits, plan or dontAsk", usable });
  }
  for (const [key, { line }] of claude ? [] : fields) {
    if ((FIELDS as readonly string[]).includes(key)) continue;
    problems.push({ line, what: `${key} is not a field of a persona`, expected: `one of ${FIELDS.join(", ")}`, usable });
  }
  return { persona: usable ? persona : undefined, problems, agentLine: fields.get("agent")?.line };
}

const EXAMPLES: Record<string, string> = { name: "code-reviewer", description: "what it is for, in a sentence" };

/** Claude Code accepts any name; Holdfast refuses one that does not fit on a line. */
function wrongName(name: string, claude: boolean): string | undefined {
  if (claude) return /[\p{Cc}/]/u.test(name) || name.length > 200 ? "the name cannot be used" : undefined;
  try {
    checkName(name);
    return undefined;
  } catch (error) {
    return HoldfastError.from(error).message;
  }
}

/** A list, or names separated by commas; a comma in parentheses belongs to a name: `Bash(git log:*, git diff:*), Read`. */
function toolsIn(
  key: "tools" | "disallowedTools",
  { fields, wrong }: { fields: ReadonlyMap<string, Field>; wrong(line: number, what: string, expected: string): void },
): string[] | null {
  const field = fields.get(key);
  if (field === undefined || isEmpty(field)) return null;
  const { value, line } = field;
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.map((each) => each.trim());
  if (typeof value === "string") return namesIn(value);
  wrong(line, `${key} is neither a list nor names with commas between them`, `${key}: Read, Grep, Bash`);
  return null;
}

function namesIn(text: string): string[] {
  const names: string[] = [];
  let [from, inside] = [0, false];
  for (const { 0: mark, index } of text.matchAll(/[,()]/g)) {
    if (mark !== ",") inside = mark === "(";
    else if (!inside) {
      names.push(text.slice(from, index));
      from = index + 1;
    }
  }
  return [...names, text.slice(from)].map((name) => name.trim()).filter((name) => name !== "");
}

function isEmpty({ value }: Field): boolean {
  return value === null || value === undefined || value === "";
}
