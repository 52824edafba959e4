import { HoldfastError } from "@holdfast/contract/errors";
import type { Peer } from "@holdfast/contract/group/group";
import type { Command } from "../../command.ts";
import { sessionsOr } from "../../group/arguments.ts";
import { columns } from "../../text/columns.ts";
import { cut } from "../../text/fit.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "group peers",
  summary: "list the other sessions in a session's groups",
  usage: "SESSION",
  description:
    "Includes the groups above and below: members of team/research and of team are peers. Inside a run, without SESSION, the run's own session is used.",
  onlyReads: true,
  arguments: "sessions",
  examples: [
    ["holdfast group peers api", "list the peers of a session"],
    ["holdfast group peers api --json | jq -r '.[].name'", "print only their names"],
  ],
  async run(context) {
    const [ref = "", ...more] = sessionsOr(context.args);
    if (more.length > 0) throw new HoldfastError("usage", "expected one session", { hint: "usage: holdfast group peers SESSION" });
    const { peers } = await context.client.call("listPeers", { params: { ref } });
    if (context.json) process.stdout.write(`${JSON.stringify(peers)}\n`);
    else process.stdout.write(peers.length === 0 ? "No peers: no other session shares a group with it.\n" : `${render(peers)}\n`);
    return 0;
  },
};

const LONGEST_OBJECTIVE = 60;

function render(peers: readonly Peer[]): string {
  const row = ({ name, status, agent, groups, coordinator, role, objective }: Peer) => [
    plain(name),
    status,
    plain(agent),
    plain(groups.join(", ")),
    cut(
      plain([...(coordinator ? ["coordinator"] : []), ...(role === null ? [] : [role]), objective ?? ""].filter(Boolean).join(": ")),
      LONGEST_OBJECTIVE,
    ),
  ];
  return columns(["PEER", "STATUS", "AGENT", "GROUP", "ROLE"], peers.map(row));
}
