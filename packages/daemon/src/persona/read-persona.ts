/** Reads one persona from the text of its file, with its problems. */
import { checkName, HoldfastError, type Persona } from "@holdfast/contract";
import { type Field, frontMatter, type Wrong, type Yaml } from "./front-matter.ts";

export type PersonaText = Pick<Persona, "name" | "description" | "agent" | "model" | "tools" | "instructions">;

export interface ReadPersona {
  /** Undefined if the file is unusable. */
  persona: PersonaText | undefined;
  problems: (Wrong & { usable: boolean })[];
}

const FIELDS = ["name", "description", "agent", "model", "tools"] as const;

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
  const model = textOf("model");
  const persona: PersonaText = {
    name,
    description: required("description"),
    agent: textOf("agent"),
    model: model === "inherit" ? null : model,
    tools: toolsIn(fields.get("tools"), wrong),
    instructions: body,
  };
  const usable = problems.length === 0;
  for (const [key, { line }] of claude ? [] : fields) {
    if ((FIELDS as readonly string[]).includes(key)) continue;
    problems.push({ line, what: `${key} means nothing`, expected: `one of ${FIELDS.join(", ")}`, usable });
  }
  return { persona: usable ? persona : undefined, problems };
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
function toolsIn(field: Field | undefined, wrong: (line: number, what: string, expected: string) => void): string[] | null {
  if (field === undefined || isEmpty(field)) return null;
  const { value, line } = field;
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.map((each) => each.trim());
  if (typeof value === "string") {
    const names = value.match(/(?:\([^)]*\)|[^,(])+/g) ?? [];
    return names.map((name) => name.trim()).filter((name) => name !== "");
  }
  wrong(line, "tools is neither a list nor names with commas between them", "tools: Read, Grep, Bash");
  return null;
}

function isEmpty({ value }: Field): boolean {
  return value === null || value === undefined || value === "";
}
