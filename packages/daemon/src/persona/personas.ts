/**
 * The personas available in a directory. They are read at each request: they are few, and a saved file takes effect at once. If two share a name,
 * the place decides (places.ts), and within a place the order of the files. Shadowed personas and problems in files are reported too. An invalid
 * file shadows nothing, not even a persona of the same name in another place.
 */
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { HoldfastError, type Persona, type PersonaList, type PersonaProblem } from "@holdfast/contract";
import { configurationFile, isMissing } from "@holdfast/platform";
import type { Yaml } from "./front-matter.ts";
import { type Place, placesFor } from "./places.ts";
import { readPersona } from "./read-persona.ts";

/** The text is sent with each turn, and no role needs more. */
const LONGEST = 256 * 1024;

export interface Where {
  cwd: string;
  /** The caller's home; default: the daemon's. */
  home?: string | undefined;
}

export class Personas {
  readonly #knowsAgent: (name: string) => boolean;
  readonly #env: NodeJS.ProcessEnv;

  constructor({ knowsAgent, env = process.env }: { knowsAgent(name: string): boolean; env?: NodeJS.ProcessEnv }) {
    this.#knowsAgent = knowsAgent;
    this.#env = env;
  }

  async list({ cwd, home = this.#env.HOME ?? "/" }: Where): Promise<PersonaList> {
    const yaml = await import("yaml");
    const configuration = dirname(configurationFile({ ...this.#env, HOME: home }));
    const personas: Persona[] = [];
    const problems: PersonaProblem[] = [];
    const seen = new Set<string>();
    for (const { directory, source } of placesFor({ cwd, home, configuration })) {
      for (const file of filesIn(directory)) {
        const read = readFile(file, { yaml, source, seen });
        if (read === undefined) continue;
        problems.push(...read.problems.map((problem) => ({ file, ...problem })));
        if (read.persona === undefined) continue;
        const { name, agent } = read.persona;
        const used = personas.find((each) => each.name === name && each.shadowedBy === null);
        personas.push({ ...read.persona, source, file, shadowedBy: used?.file ?? null });
        if (agent !== null && !this.#knowsAgent(agent)) problems.push(unknownAgent(file, agent));
      }
    }
    return { personas: personas.sort(byName), problems };
  }

  async find(name: string, where: Where): Promise<Persona> {
    const { personas, problems } = await this.list(where);
    const used = personas.find((each) => each.name === name && each.shadowedBy === null);
    if (used) return used;
    const bad = problems.find(({ file, usable }) => !usable && basename(file, ".md") === name);
    if (bad) {
      throw new HoldfastError("persona_unusable", `${bad.file}:${bad.line}: ${bad.what}`, { hint: `expected ${bad.expected}` });
    }
    throw new HoldfastError("persona_not_found", `there is no persona ${JSON.stringify(name)}`, {
      hint: "holdfast personas lists those there are; write one as .holdfast/personas/NAME.md",
      candidates: personas.filter(({ shadowedBy }) => shadowedBy === null).map((each) => each.name),
    });
  }
}

/** Markdown files here and in subdirectories, as Claude Code has them, in a stable order. */
function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(directory, name))
      .sort();
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === "ENOTDIR") return [];
    throw new HoldfastError("file_unusable", `${directory} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

type Reading = { yaml: Yaml; source: Place["source"]; seen: Set<string> };

/** Undefined: not a file, already read under another path, or not a persona. */
function readFile(file: string, { yaml, source, seen }: Reading): ReturnType<typeof readPersona> | undefined {
  const claude = source === "claude_project" || source === "claude_user";
  try {
    const real = realpathSync(file);
    const { size } = statSync(real);
    if (!statSync(real).isFile() || seen.has(real)) return undefined;
    seen.add(real);
    if (size > LONGEST) return unread("it is longer than 256 KB", "a role in a few pages");
    const text = readFileSync(real, "utf8");
    // Notes between the agent files; Claude Code ignores them too.
    return claude && !/^\uFEFF?---/.test(text) ? undefined : readPersona(text, { yaml, claude });
  } catch (error) {
    return unread(`it cannot be read: ${(error as Error).message.split(",")[0]}`, "a file that you can read");
  }
}

function unread(what: string, expected: string): ReturnType<typeof readPersona> {
  return { persona: undefined, problems: [{ line: 1, what, expected, usable: false }] };
}

function unknownAgent(file: string, agent: string): PersonaProblem {
  const line =
    readFileSync(file, "utf8")
      .split("\n")
      .findIndex((each) => each.startsWith("agent:")) + 1;
  return { file, line, what: `there is no agent ${agent}`, expected: "one of those that holdfast agents lists", usable: true };
}

function byName(a: Persona, b: Persona): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : a.shadowedBy === null ? -1 : b.shadowedBy === null ? 1 : 0;
}
