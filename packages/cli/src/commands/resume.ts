import { HoldfastError } from "@holdfast/contract/errors";
import type { Resumed } from "@holdfast/contract/session/endpoints";
import type { Session } from "@holdfast/contract/session/session";
import type { PromptFate, RunState } from "@holdfast/contract/session/status";
import { attachIfAsked, checkAttachFlag } from "../attach/attach-after.ts";
import type { Command } from "../command.ts";
import { readInput } from "../console/read-input.ts";
import { oneName } from "../session/select.ts";
import { environmentOf } from "../session/start.ts";
import { plain } from "../text/plain.ts";
import { BUDGET_FLAG, parseBudget } from "../usage/budget-flag.ts";

export const command: Command = {
  name: "resume",
  summary: "start the next run of an ended session, with its conversation",
  section: "Stop and resume",
  startsPrograms: true,
  usage: "NAME [--fresh | --conversation ID] [--prompt TEXT|-] [--repeat-prompt] [--budget LIMITS] [--env K=V]… [--attach | --no-wait]",
  description:
    "The agent continues its own conversation in the same session, directory and environment. If that fails, the conversation is kept: try again, or start a new one with --fresh. A command (run) is run again; if it ends at once, its exit code is printed.\n\nThe first prompt (spawn --prompt) is delivered to one run only, because an earlier run may have executed it. --repeat-prompt delivers it again.\n\nReturns when the agent is ready, or after 15 seconds. If the agent or the command has failed by then, its last lines are printed and the exit code is 35.",
  arguments: "sessions",
  flags: {
    fresh: { summary: "start a new conversation; the old one can still be continued" },
    conversation: { value: "ID", summary: "continue this conversation (see holdfast show)", complete: "nothing" },
    prompt: {
      value: "TEXT",
      short: "p",
      summary: "prompt to send once it is ready; - reads standard input",
      complete: "nothing",
    },
    "repeat-prompt": { summary: "deliver the first prompt again" },
    budget: { ...BUDGET_FLAG, summary: "new limits, including what is already used: turns=20, cost=off; other limits stay" },
    env: {
      value: "K=V",
      summary: "set an environment variable from now on; K alone passes your value",
      multiple: true,
      complete: "nothing",
    },
    attach: { summary: "attach to it" },
    "no-wait": { summary: "return once it is started" },
  },
  examples: [
    ["holdfast resume fix-login", "continue where the session stopped"],
    ["holdfast resume fix-login --env ANTHROPIC_API_KEY", "continue with your shell's current key"],
    ["holdfast resume fix-login --prompt 'now add tests'", "continue with a new prompt"],
    ["holdfast resume fix-login --budget turns=20,cost=5", "raise a budget that is used up"],
    ["holdfast resume fix-login --fresh", "start over in the same directory"],
  ],
  async run(context) {
    const { flags, client } = context;
    checkAttachFlag(context);
    const ref = oneName(context, "resume NAME");
    const conversation = flags.text("conversation");
    if (flags.has("fresh") && conversation !== undefined) {
      throw new HoldfastError("usage", "--fresh and --conversation cannot be used together", {
        hint: "pass one of the two",
      });
    }
    if (flags.has("attach") && flags.has("no-wait")) throw new HoldfastError("usage", "--attach and --no-wait cannot be used together");
    const given = flags.text("prompt");
    const prompt = given === "-" ? (await readInput()).trimEnd() : given;
    const repeatPrompt = flags.has("repeat-prompt");
    if (repeatPrompt && prompt !== undefined)
      throw new HoldfastError("usage", "--repeat-prompt and --prompt cannot be used together", {
        hint: "pass one of the two",
      });
    if (prompt === "") throw new HoldfastError("usage", "the prompt is empty", { hint: "omit --prompt, or give it a text" });
    const session = await client.call("resumeSession", {
      params: { ref },
      body: {
        fresh: flags.has("fresh"),
        conversation,
        budget: parseBudget(flags.text("budget")),
        env: environmentOf(flags),
        repeatPrompt,
        waitMs: flags.has("no-wait") ? 0 : UP_MS,
      },
    });
    const isOver = session.state === "ended";
    if (isOver && (session.kind !== "shell" || session.exit?.code !== 0)) throw endedAtOnce(session);
    if (prompt !== undefined) await client.call("sendMessage", { params: { ref: session.id }, body: { text: prompt } });
    if (context.json) process.stdout.write(`${JSON.stringify(session)}\n`);
    else
      process.stdout.write(`${[told(session), ...(prompt === undefined ? aboutPrompt(session) : [])].join("\n")}\n${stillRuns(session)}`);
    if (isOver) return 0;
    return attachIfAsked(context, session.name);
  },
};

/** Reports leftover processes: they may be development servers that hold a port the new run needs. */
function stillRuns({ left = [] }: Session): string {
  if (left.length === 0) return "";
  const which = left.map(({ pid, command }) => `  pid ${pid}: ${plain(command)}\n`).join("");
  return `Processes of earlier runs are still running:\n${which}`;
}

/** Most agents are up in a few seconds, and in ten on a busy machine. */
const UP_MS = 15_000;

function endedAtOnce(session: Session & { lines: string[] }): HoldfastError {
  const { exit, lines, restartAt } = session;
  const name = plain(session.name);
  const how = exit?.signal ?? (exit?.code == null ? session.status : `exit code ${exit.code}`);
  const said = lines.length === 0 ? "it printed nothing" : `its last lines:\n${lines.map((line) => `  ${plain(line)}`).join("\n")}`;
  const next = restartAt === null ? "" : "; its policy restarts it";
  const anew = session.kind === "shell" ? "" : `; start a new conversation: holdfast resume ${name} --fresh`;
  return new HoldfastError("agent_crashed", `${name} was started (run ${session.runs}) and ended at once (${how})${next}; ${said}`, {
    hint: `read all output: holdfast logs ${name}${anew}`,
  });
}

function aboutPrompt({ name, prompt }: Session & { prompt: PromptFate | null }): string[] {
  if (prompt !== "withheld") return [];
  const again = `holdfast stop ${plain(name)}; holdfast resume ${plain(name)} --repeat-prompt`;
  return [
    "the first prompt was delivered to an earlier run and may have been executed; this run did not get it",
    `send the next prompt: holdfast send ${plain(name)} TEXT; repeat the first prompt: ${again}`,
  ];
}

function told(session: Session & { resumed: Resumed; state: RunState }): string {
  return session.state === "starting"
    ? `${begun(session)}; started, not ready yet: holdfast attach ${plain(session.name)}`
    : begun(session);
}

function begun(session: Session & { resumed: Resumed; state: RunState }): string {
  const name = plain(session.name);
  const run = `run ${session.runs}`;
  if (session.state === "ended") return `${name} ran its command again (${run}); it ended with exit code 0`;
  if (session.resumed === "command") return `${name} is running its command again (${run})`;
  if (session.resumed === "conversation") return `${name} continues its conversation ${plain(session.conversation ?? "")} (${run})`;
  const before = session.conversations.findLast(({ id, turns }) => id !== session.conversation && turns !== 0);
  const back = before ? `; go back to the old one: holdfast stop ${name}; holdfast resume ${name} --conversation ${plain(before.id)}` : "";
  return `${name} started a new conversation (${run})${back}`;
}
