/** `spawn --best-of`: several agents on one prompt. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { EntryFailure } from "@holdfast/contract/tournament/endpoints";
import type { Tournament } from "@holdfast/contract/tournament/tournament";
import type { Context } from "../command.ts";
import { printError } from "../console/print-error.ts";
import { startFlags } from "../session/start.ts";
import { color } from "../text/color.ts";
import { plain } from "../text/plain.ts";
import { withProgress } from "../workspace/progress.ts";

export async function startTournament(context: Context, what: { agent: string | undefined; prompt: string | undefined }): Promise<number> {
  const { flags, client } = context;
  const agents = agentsOf(context, what.agent);
  if (what.prompt === undefined) throw wrong("--best-of needs a prompt");
  for (const flag of ["workspace", "worktree"]) {
    if (flags.text(flag)) throw wrong(`--${flag} cannot be used with --best-of: each agent gets its own worktree and branch`);
  }
  const body = {
    ...startFlags(flags),
    agents,
    count: countOf(flags.text("best-of"), agents.length),
    args: [...context.rest],
    prompt: what.prompt,
    base: flags.text("base"),
    setup: !flags.has("no-setup"),
  };
  const reply = await withProgress(context, () => client.call("startTournament", { body }));
  const { tournament, failures } = reply;
  const started = tournament.entries.flatMap(({ session }) => session ?? []);
  process.stdout.write(context.json ? `${JSON.stringify(reply)}\n` : started.map(({ id }) => `${id}\n`).join(""));
  if (!context.json) tell(tournament, failures);
  return failures[0] ? HoldfastError.fromBody(failures[0].error).exitCode : 0;
}

function tell(tournament: Tournament, failures: readonly EntryFailure[]): void {
  const { entries } = tournament;
  const name = plain(tournament.name);
  for (const { name: entry, agent, error } of failures) {
    printError(HoldfastError.fromBody({ ...error, message: `${entry} (${agent}) was not started: ${error.message}` }), { json: false });
  }
  if (failures.length === 0 && !process.stderr.isTTY) return;
  const running = entries.filter(({ session }) => session !== null).map((entry) => `${plain(entry.name)} (${entry.agent})`);
  const all = failures.length === 0 ? "" : `${running.length} of ${entries.length} are running: `;
  const lines = [
    running.length === 0 ? `none of the ${entries.length} agents was started` : `${all}${running.join(", ")}`,
    `Compare: holdfast compare ${name}   Keep one: holdfast keep ${name}-1`,
    ...(failures.length === 0 ? [] : [color("dim", `To start the missing ones, run the same command with --name ${name}`, process.stderr)]),
  ];
  process.stderr.write(`${lines.join("\n")}\n`);
}

function agentsOf(context: Context, agent: string | undefined): string[] {
  const listed = context.flags.list("agents").flatMap((names) => names.split(","));
  if (listed.includes("")) throw wrong("--agents takes comma-separated names: claude,codex");
  if (agent !== undefined && listed.length > 0)
    throw wrong(`an agent argument and --agents cannot be used together: add ${agent} to --agents`);
  const agents = agent === undefined ? listed : [agent];
  if (agents.length === 0) throw wrong("expected an agent, or --agents A,B");
  if (context.rest.length > 0 && new Set(agents).size > 1)
    throw wrong("arguments after -- need a single kind of agent, and --agents names several");
  return agents;
}

function countOf(text: string | undefined, agents: number): number {
  if (text === undefined) return agents;
  if (!/^\d{1,3}$/.test(text)) throw wrong(`--best-of takes a number, not ${JSON.stringify(text)}`);
  return Number(text);
}

function wrong(what: string): HoldfastError {
  return new HoldfastError("usage", what, {
    hint: "for example: holdfast spawn --best-of 3 --agents claude,codex --prompt 'fix the login bug'",
  });
}
