import { HoldfastError } from "@holdfast/contract/errors";
import type { Persona } from "@holdfast/contract/persona";
import { color } from "../../color.ts";
import type { Command } from "../../command.ts";
import { plain } from "../../plain.ts";
import { shortPath } from "../../table.ts";

export const command: Command = {
  name: "personas show",
  summary: "show one persona with its instructions",
  usage: "NAME",
  arguments: "personas",
  onlyReads: true,
  flags: {},
  examples: [
    ["holdfast personas show code-reviewer", "show the persona used in this directory"],
    ["holdfast personas show code-reviewer --json | jq -r .instructions", "print only the instructions"],
  ],
  async run(context) {
    const [name, ...more] = context.args;
    if (name === undefined || more.length > 0)
      throw new HoldfastError("usage", "name one persona", { hint: "usage: holdfast personas show NAME; holdfast personas lists them" });
    const { HOME: home } = process.env;
    const query = { cwd: process.cwd(), ...(home ? { home } : {}) };
    const persona = await context.client.call("getPersona", { params: { name }, query });
    process.stdout.write(context.json ? `${JSON.stringify(persona)}\n` : render(persona));
    return 0;
  },
};

function render({ name, description, agent, model, tools, instructions, file }: Persona): string {
  const facts = [
    ["agent", agent ?? "any"],
    ["model", model ?? "the agent's default"],
    ["tools", tools === null ? "all" : tools.join(", ") || "none"],
    ["file", shortPath(file)],
  ].map(([key = "", value = ""]) => `${color("dim", key.padEnd(6))} ${plain(value)}`);
  const text = instructions.split("\n").map((line) => plain(line.replaceAll("\t", "    ")));
  const about = description.split("\n").map((line) => plain(line));
  return `${[color("bold", plain(name)), ...about, "", ...facts, ...(instructions === "" ? [] : ["", ...text])].join("\n")}\n`;
}
