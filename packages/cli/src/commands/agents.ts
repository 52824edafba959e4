import type { AgentInfo } from "@holdfast/contract/agent/endpoints";
import type { Command, Context } from "../command.ts";
import { LEAST_PATH } from "../session/table.ts";
import { color } from "../text/color.ts";
import { cut, shortened, shortPath } from "../text/fit.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "agents",
  summary: "list the agents and their versions",
  onlyReads: true,
  section: "Start agents and commands",
  onlyPrints: true,
  startsPrograms: true,
  usage: "",
  description:
    "Lists the agents that Holdfast supports, and where your PATH has them. To add your own agent, put a table [agents.NAME] with a command into config.toml.",
  examples: [
    ["holdfast agents", "show name, version and path of each agent"],
    ["holdfast agents --json", "for a script"],
  ],
  async run(context) {
    const agents = await withVersions(context);
    process.stdout.write(context.json ? `${JSON.stringify(agents)}\n` : `${render(agents, process.stdout.columns)}\n`);
    return 0;
  },
};

/** Most agents report their version at once; some must start first. The daemon keeps a later answer for the next call. */
const AT_ONCE_MS = 1000;
const A_LITTLE_MS = 2000;

async function withVersions({ client, json }: Context): Promise<AgentInfo[]> {
  const { PATH: path, HOME: home } = process.env;
  const ask = async (waitMs: number) => (await client.call("listAgents", { query: { path, home, versions: true, waitMs } })).agents;
  const agents = await ask(AT_ONCE_MS);
  const slow = agents.filter(({ asking }) => asking).map(({ name }) => plain(name));
  if (slow.length === 0) return agents;
  if (!json && process.stderr.isTTY)
    process.stderr.write(`asking ${slow.join(", ")} for ${slow.length === 1 ? "its version" : "their versions"} …\n`);
  return ask(A_LITTLE_MS);
}

/** On a terminal, shortens paths, or omits them if too little space remains. */
function render(agents: readonly AgentInfo[], room = Number.POSITIVE_INFINITY): string {
  const rows = [["AGENT", "VERSION", "WHAT", "WHERE"], ...agents.map(row)];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const left = room - widths.reduce((total, width) => total + width + 2, 0);
  const lines = rows.map(([agent = "", version = "", what = "", where = ""]) => {
    const cells = [agent, version, what].map((cell, column) => cell.padEnd(widths[column] ?? 0));
    return cut([...cells, ...(left < LEAST_PATH ? [] : [shortened(where, left)])].join("  ").trimEnd(), room);
  });
  return lines.map((line, i) => (i > 0 && agents[i - 1]?.path === null ? color("dim", line) : line)).join("\n");
}

function row({ name, version, asking, description, path, tested, own }: AgentInfo): string[] {
  const notes = [...(tested ? [] : ["untested"]), ...(own ? ["yours"] : [])];
  return [
    plain(name),
    asking ? "no answer yet" : (version ?? "–"),
    `${plain(description)}${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`,
    path === null ? "not found" : shortPath(path),
  ];
}
