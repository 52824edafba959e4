import type { Resumed } from "@holdfast/contract/endpoints";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session";
import type { PromptFate, RunState } from "@holdfast/contract/status";
import { BUDGET_FLAG, parseBudget } from "../budget-flag.ts";
import type { Command } from "../command.ts";
import { plain } from "../plain.ts";
import { readInput } from "../read-input.ts";
import { oneName } from "../select.ts";
import { environmentOf } from "../start-session.ts";

export const command: Command = {
  name: "resume",
  summary: "start the next run of a session that has ended, with its conversation",
  usage: "NAME [--fresh | --conversation ID] [--prompt TEXT|-] [--repeat-prompt] [--budget LIMITS] [--env K=V]… [--attach | --no-wait]",
  description:
    "The agent goes on with its own conversation: same session, same directory and environment, next run. A conversation that it could not go on with\nis not forgotten: try again, or begin a new one with --fresh. A command (run) is run again;\nits exit code is told if it ends at once.\nThe first prompt (spawn --prompt) is handed to one run only: an earlier run may have executed it. --repeat-prompt hands it over again.\nReturns when the agent is up, after 15 seconds at the latest. When the agent or the command has failed by then, its last lines are printed and the exit code is 35.",
  arguments: "sessions",
  flags: {
    fresh: { summary: "begin a new conversation; the old one can still be gone on with" },
    conversation: { value: "ID", summary: "go on with this one of its conversations (holdfast show lists them)", complete: "nothing" },
    prompt: { value: "TEXT", summary: "what to say to it once it is ready; - reads it from standard input", complete: "nothing" },
    "repeat-prompt": { summary: "hand over the first prompt again" },
    budget: { ...BUDGET_FLAG, summary: "what it may use from now on, with what it has used: turns=20, cost=off; other limits stay" },
    env: {
      value: "K=V",
      summary: "set a variable of its environment, from now on; K alone takes your value",
      multiple: true,
      complete: "nothing",
    },
    attach: { summary: "and look at it" },
    "no-wait": { summary: "return once it is started" },
  },
  examples: [
    ["holdfast resume fix-login", "go on where it was"],
    ["holdfast resume fix-login --env ANTHROPIC_API_KEY", "with the key that your shell has now"],
    ["holdfast resume fix-login --prompt 'now add tests'", "and give it something to do"],
    ["holdfast resume fix-login --budget turns=20,cost=5", "one that has used up its budget"],
    ["holdfast resume fix-login --fresh", "in the same place, with nothing remembered"],
  ],
  async run(context) {
    const { flags, client } = context;
    const ref = oneName(context, "resume NAME");
    const conversation = flags.text("conversation");
    if (flags.has("fresh") && conversation !== undefined) {
      throw new HoldfastError("usage", "--fresh begins a new conversation, --conversation goes on with an old one", {
        hint: "give one of the two",
      });
    }
    const given = flags.text("prompt");
    const prompt = given === "-" ? (await readInput()).trimEnd() : given;
    const repeatPrompt = flags.has("repeat-prompt");
    if (repeatPrompt && prompt !== undefined)
      throw new HoldfastError("usage", "--repeat-prompt hands over the first prompt, --prompt another one", {
        hint: "give one of the two",
      });
    if (prompt === "") throw new HoldfastError("usage", "the prompt is empty", { hint: "leave --prompt out, or say what it is to do" });
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
    if (isOver || !flags.has("attach")) return 0;
    const attach = (await import("./attach.ts")).command;
    return (await attach.run({ ...context, args: [session.name] })) ?? 0;
  },
};

/** A development server is often meant to stay; a second one may want the same port. */
function stillRuns({ left = [] }: Session): string {
  if (left.length === 0) return "";
  const which = left.map(({ pid, command }) => `  pid ${pid}: ${plain(command)}\n`).join("");
  return `Processes of its earlier runs still run:\n${which}`;
}

/** Most agents are up in a few seconds, and in ten on a busy machine. */
const UP_MS = 15_000;

function endedAtOnce(session: Session & { lines: string[] }): HoldfastError {
  const { exit, lines, restartAt } = session;
  const name = plain(session.name);
  const how = exit?.signal ?? (exit?.code == null ? session.status : `exit code ${exit.code}`);
  const said = lines.length === 0 ? "it printed nothing" : `its last lines:\n${lines.map((line) => `  ${plain(line)}`).join("\n")}`;
  const next = restartAt === null ? "" : "; its policy starts it again";
  const anew = session.kind === "shell" ? "" : `; to begin a new conversation: holdfast resume ${name} --fresh`;
  return new HoldfastError("agent_crashed", `${name} was started (run ${session.runs}) and ended at once (${how})${next}; ${said}`, {
    hint: `see all of it: holdfast logs ${name}${anew}`,
  });
}

function aboutPrompt({ name, prompt }: Session & { prompt: PromptFate | null }): string[] {
  if (prompt !== "withheld") return [];
  const again = `holdfast stop ${plain(name)}; holdfast resume ${plain(name)} --repeat-prompt`;
  return [
    "the first prompt was handed to an earlier run and may have been executed: this run did not get it",
    `to say what is next: holdfast send ${plain(name)} TEXT; to repeat the first prompt: ${again}`,
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
  if (session.state === "ended") return `${name} ran its command again (${run}), which ended: exit code 0`;
  if (session.resumed === "command") return `${name} runs its command again (${run})`;
  if (session.resumed === "conversation") return `${name} goes on with its conversation ${plain(session.conversation ?? "")} (${run})`;
  const before = session.conversations.findLast(({ id, turns }) => id !== session.conversation && turns !== 0);
  const back = before ? `; back to the one before: holdfast stop ${name}; holdfast resume ${name} --conversation ${plain(before.id)}` : "";
  return `${name} begins a new conversation (${run})${back}`;
}
