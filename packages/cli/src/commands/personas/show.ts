import { HoldfastError } from "@holdfast/contract/errors";
import type { Persona } from "@holdfast/contract/persona/persona";
import type { Command } from "../../command.ts";
import { color } from "../../text/color.ts";
import { shortPath } from "../../text/fit.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "personas show",
  summary: "show one persona with its instructions",
  usage: "NAME",
  arguments: "personas",
  onlyReads: true,
  examples: [
    ["holdfast personas show code-reviewer", "show the persona used in this directory"],
    ["holdfast personas show code-reviewer --json | jq -r .instructions", "print only the instructions"],
  ],
  async run(context) {
    const [name, ...more] = context.args;
    if (name === undefined || more.length > 0)
      throw new HoldfastError("usage", "expected one persona", {
        hint: "usage: holdfast personas show NAME; list personas: holdfast personas",
      });
    const { HOME: home } = process.env;
    const query = { cwd: process.cwd(), ...(home ? { home } : {}) };
    const persona = await context.client.call("getPersona", { params: { name }, query });
    process.stdout.write(context.json ? `${JSON.stringify(persona)}\n` : render(persona));
    return 0;
  },
};

/** A daemon of an older version does not send the newer fields. */
type Newer = "disallowedTools" | "toolsEnforcedIn" | "permissionMode";
type Sent = Omit<Persona, Newer> & Partial<Pick<Persona, Newer>>;

function render(persona: Sent): string {
  const { name, description, agent, model, permissionMode = null, instructions, file } = persona;
  const facts = [
    ["agent", agent ?? "any"],
    ["model", model ?? "the agent's default"],
    ...(permissionMode === null ? [] : [["mode", permissionMode]]),
    ...toolFacts(persona),
    ["file", shortPath(file)],
  ].map(([key = "", value = ""]) => `${color("dim", key.padEnd(6))} ${plain(value)}`);
  const text = instructions.split("\n").map((line) => plain(line.replaceAll("\t", "    ")));
  const about = description.split("\n").map((line) => plain(line));
  return `${[color("bold", plain(name)), ...about, "", ...facts, ...(instructions === "" ? [] : ["", ...text])].join("\n")}\n`;
}

function toolFacts({ tools, disallowedTools = [], agent, toolsEnforcedIn }: Sent): string[][] {
  const denied = disallowedTools.length === 0 ? "" : ` except ${disallowedTools.join(", ")}`;
  const partly = toolsEnforcedIn?.length && tools?.some((name) => name.includes("(")) ? ", except the text in parentheses" : "";
  const facts = [["tools", `${tools === null ? "all" : tools.join(", ") || "none"}${denied}`]];
  if (toolsEnforcedIn === undefined || (tools === null && denied === "")) return facts;
  return [...facts, ["", `${enforcement(agent, toolsEnforcedIn)}${partly}`]];
}

function enforcement(agent: string | null, [where, ...more]: Persona["toolsEnforcedIn"]): string {
  if (agent === null) return "some agents enforce this; holdfast spawn prints a note for the others";
  if (where === undefined) return `${agent} does not enforce this; approvals decide what it may do`;
  return more.length > 0 ? `${agent} enforces this` : `${agent} enforces this only in a ${where}`;
}
