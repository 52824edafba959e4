/**
 * The personas available in a directory. They are read at each request: they are few, and a saved file takes effect at once. If two share a name,
 * the place decides (places.ts), and within a place the order of the files. Shadowed personas and problems in files are reported too. An invalid
 * file shadows nothing, not even a persona of the same name in another place.
 */
import { type Dirent, opendirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { HoldfastError, type Persona, type PersonaList, type PersonaProblem } from "@holdfast/contract";
import { configurationFile, isMissing, readOrdinaryFile } from "@holdfast/platform";
import type { Yaml } from "./front-matter.ts";
import { type Place, placesFor } from "./places.ts";
import { readPersona } from "./read-persona.ts";

/** The text is sent with each turn, and no role needs more. */
const LONGEST = 256 * 1024;

/** Directory entries looked at in one place: a stranger's repository may link its directory to anywhere. */
const MOST_ENTRIES = 2000;

export interface Where {
  cwd: string;
  /** The caller's home; default: the daemon's. */
  home?: string | undefined;
}

export interface KnownAgents {
  knowsAgent(name: string): boolean;
  /** Where the agent enforces the tools of a role. */
  enforcedIn(agent: string): Persona["toolsEnforcedIn"];
}

export class Personas {
  readonly #agents: KnownAgents;
  readonly #env: NodeJS.ProcessEnv;

  constructor({ env = process.env, ...agents }: KnownAgents & { env?: NodeJS.ProcessEnv }) {
    this.#agents = agents;
    this.#env = env;
  }

  async list({ cwd, home = this.#env.HOME ?? "/" }: Where): Promise<PersonaList> {
    const yaml = await import("yaml");
    const configuration = dirname(configurationFile({ ...this.#env, HOME: home }));
    const personas: Persona[] = [];
    const problems: PersonaProblem[] = [];
    const seen = new Set<string>();
    for (const { directory, source } of placesFor({ cwd, home, configuration })) {
      const { files, isCut } = filesIn(directory);
      if (isCut) problems.push(cutOff(directory));
      for (const file of files) {
        const read = readFile(file, { yaml, source, seen });
        if (read === undefined) continue;
        problems.push(...read.problems.map((problem) => ({ file, ...problem })));
        if (read.persona === undefined) continue;
        const { name, agent } = read.persona;
        const used = personas.find((each) => each.name === name && each.shadowedBy === null);
        const toolsEnforcedIn = agent === null ? [] : this.#agents.enforcedIn(agent);
        personas.push({ ...read.persona, toolsEnforcedIn, source, file, shadowedBy: used?.file ?? null });
        if (agent !== null && !this.#agents.knowsAgent(agent)) problems.push(unknownAgent(file, agent, read.agentLine));
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
      hint: "list personas: holdfast personas; or create .holdfast/personas/NAME.md",
      candidates: personas.filter(({ shadowedBy }) => shadowedBy === null).map((each) => each.name),
    });
  }
}

/** Markdown files here and in subdirectories, as Claude Code has them, in a stable order. */
function filesIn(directory: string): { files: string[]; isCut: boolean } {
  const files: string[] = [];
  const pending = [directory];
  let left = MOST_ENTRIES;
  for (let at = pending.shift(); at !== undefined && left > 0; at = pending.shift()) {
    for (const entry of entriesOf(at, left)) {
      left--;
      if (entry.isDirectory()) pending.push(join(at, entry.name));
      else if (entry.name.endsWith(".md")) files.push(join(at, entry.name));
    }
  }
  return { files: files.sort(), isCut: left === 0 };
}

function entriesOf(directory: string, most: number): Dirent[] {
  try {
    using open = opendirSync(directory);
    const entries: Dirent[] = [];
    for (let entry = open.readSync(); entry !== null && entries.length < most; entry = open.readSync()) entries.push(entry);
    return entries;
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === "ENOTDIR") return [];
    throw new HoldfastError("file_unusable", `${directory} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function cutOff(file: string): PersonaProblem {
  return { file, line: 1, what: `it has more than ${MOST_ENTRIES} files`, expected: "a directory with nothing but personas", usable: true };
}

type Reading = { yaml: Yaml; source: Place["source"]; seen: Set<string> };

/** Undefined: not a file, already read under another path, or not a persona. */
function readFile(file: string, { yaml, source, seen }: Reading): ReturnType<typeof readPersona> | undefined {
  const claude = source === "claude_project" || source === "claude_user";
  try {
    const real = realpathSync(file);
    const stat = statSync(real);
    if (!stat.isFile() || seen.has(real)) return undefined;
    seen.add(real);
    if (stat.size > LONGEST) return unread("it is longer than 256 KB", "a role in a few pages");
    const text = readOrdinaryFile(real, LONGEST);
    // Notes between the agent files; Claude Code ignores them too.
    return claude && !/^\uFEFF?---/.test(text) ? undefined : readPersona(text, { yaml, claude });
  } catch (error) {
    return unread(`it cannot be read: ${(error as Error).message.split(",")[0]}`, "a file that you can read");
  }
}

function unread(what: string, expected: string): ReturnType<typeof readPersona> {
  return { persona: undefined, problems: [{ line: 1, what, expected, usable: false }] };
}

function unknownAgent(file: string, agent: string, line = 1): PersonaProblem {
  return { file, line, what: `there is no agent ${agent}`, expected: "one of those that holdfast agents lists", usable: true };
}

function byName(a: Persona, b: Persona): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : a.shadowedBy === null ? -1 : b.shadowedBy === null ? 1 : 0;
}
