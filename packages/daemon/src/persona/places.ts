/** The directories of personas: those of the project, from the working directory upwards, and those of the user. The first wins. */
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PersonaSource } from "@holdfast/contract";

export interface Place {
  directory: string;
  source: PersonaSource;
}

export function placesFor({ cwd, home, configuration }: { cwd: string; home: string; configuration: string }): Place[] {
  const project = projectDirectories(cwd, home);
  return [
    ...project.map((directory): Place => ({ directory: join(directory, ".holdfast/personas"), source: "project" })),
    { directory: join(configuration, "personas"), source: "user" },
    ...project
      .filter((directory) => directory !== home)
      .map((directory): Place => ({ directory: join(directory, ".claude/agents"), source: "claude_project" })),
    { directory: join(home, ".claude/agents"), source: "claude_user" },
  ];
}

/**
 * The directory and its parents, up to the root of its repository or the user's home. Stops before a directory of another owner: anybody could put
 * instructions for an agent into /tmp.
 */
function projectDirectories(cwd: string, home: string): string[] {
  const owner = ownerOf(cwd);
  const found: string[] = [];
  for (let directory = cwd; owner !== undefined && ownerOf(directory) === owner; directory = dirname(directory)) {
    found.push(directory);
    if (existsSync(join(directory, ".git")) || directory === home || directory === dirname(directory)) break;
  }
  return found;
}

function ownerOf(directory: string): number | undefined {
  return statSync(directory, { throwIfNoEntry: false })?.uid;
}
