/** Where personas are: the directories of a project, from where somebody works upwards, and those of a person. First is what wins. */
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
 * From the directory up to the root of its repository, or up to the home. Never into a directory of somebody else's: in /tmp anybody may put
 * something that an agent would then be told.
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
