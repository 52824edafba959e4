import type { Persona, PersonaList, PersonaProblem } from "@holdfast/contract/persona/persona";
import type { Command } from "../../command.ts";
import { color } from "../../text/color.ts";
import { columns } from "../../text/columns.ts";
import { cut, shortPath } from "../../text/fit.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "personas ls",
  summary: "list the personas, and files with errors",
  usage: "",
  onlyReads: true,
  examples: [
    ["holdfast personas ls", "show name, agent, model, source and description"],
    ["holdfast personas ls --json | jq -r '.personas[].name'", "for a script"],
  ],
  async run(context) {
    const { HOME: home } = process.env;
    const found = await context.client.call("listPersonas", { query: { cwd: process.cwd(), ...(home ? { home } : {}) } });
    process.stdout.write(context.json ? `${JSON.stringify(found)}\n` : `${render(found, process.stdout.columns)}\n`);
    return 0;
  },
};

const FROM: Record<Persona["source"], string> = {
  project: "project",
  user: "yours",
  claude_project: ".claude",
  claude_user: "~/.claude",
};

function render({ personas, problems }: PersonaList, room = Number.POSITIVE_INFINITY): string {
  const used = personas.filter(({ shadowedBy }) => shadowedBy === null);
  const shadowed = personas.filter(({ shadowedBy }) => shadowedBy !== null);
  return [
    used.length === 0 ? NONE : table(used, room),
    ...(shadowed.length === 0 ? [] : [["Not used, because another persona has the same name:", ...shadowed.map(shadow)].join("\n")]),
    ...(problems.length === 0 ? [] : [["Wrong:", ...problems.map(problem)].join("\n")]),
  ].join("\n\n");
}

const NONE = "No personas. Create .holdfast/personas/reviewer.md: name: and description: between two --- lines, then the instructions.";

function table(personas: readonly Persona[], room: number): string {
  const rows = personas.map(({ name, agent, model, source, description }) => [
    plain(name),
    plain(agent ?? "–"),
    plain(model ?? "–"),
    FROM[source],
    plain(description.replaceAll(/\s+/g, " ")),
  ]);
  return columns(["NAME", "AGENT", "MODEL", "FROM", "DESCRIPTION"], rows)
    .split("\n")
    .map((line) => cut(line, room))
    .join("\n");
}

function shadow({ name, file, shadowedBy }: Persona): string {
  return color("dim", `  ${plain(name)}: ${shortPath(file)}; ${shortPath(shadowedBy ?? "")} comes first`);
}

function problem({ file, line, what, expected, usable }: PersonaProblem): string {
  const rest = usable ? " (still used)" : "";
  return `  ${color(usable ? "yellow" : "red", `${shortPath(file)}:${line}`)} ${plain(what)}; expected ${plain(expected)}${rest}`;
}
