import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";
import { readInput } from "../console/read-input.ts";
import { printStarted, START_FLAGS, startSession } from "../session/start.ts";

export const command: Command = {
  name: "create",
  summary: "create a session without starting it",
  section: "Start agents and commands",
  usage: "AGENT [--prompt TEXT|-] [--name NAME] [--worktree[=BRANCH]] [--chat] … | -- COMMAND…",
  description:
    "Records the session, with its directory, environment, workspace and groups, and prints its id. Nothing runs until holdfast start NAME.\nMessages sent before then wait in its queue. holdfast rm removes a session that was never started.",
  flags: {
    prompt: { value: "TEXT", short: "p", summary: "first prompt; - reads standard input", complete: "nothing" },
    persona: { value: "NAME", summary: "role of the agent (see holdfast personas)", complete: "personas" },
    chat: { summary: "create a conversation, without a terminal; see holdfast chat" },
    model: { value: "MODEL", summary: "with --chat: the model, if the agent offers a choice", complete: "nothing" },
    mode: { value: "MODE", summary: "with --chat: the agent's mode, if it has several", complete: "nothing" },
    "no-context": { summary: "do not mention the Working Context in the first prompt (see holdfast context)" },
    ...START_FLAGS,
  },
  arguments: "agents",
  examples: [
    ["holdfast create claude --name review --worktree --prompt 'review the API'", "create an agent with its own worktree"],
    ["holdfast create --name nightly -- npm run nightly", "create a session for a command"],
  ],
  takesRest: true,
  async run(context) {
    const { flags, args, rest } = context;
    const [agent, ...more] = args;
    const persona = flags.text("persona");
    if (more.length > 0)
      throw new HoldfastError("usage", `unexpected argument ${JSON.stringify(more[0])}`, {
        hint: "quote the prompt: --prompt 'TEXT'",
      });
    const given = flags.text("prompt");
    const prompt = given === "-" ? (await readInput()).trimEnd() : given;
    if (prompt?.trim() === "") throw new HoldfastError("usage", "the first prompt is empty", { hint: "omit --prompt, or give it a text" });
    const isCommand = agent === undefined && persona === undefined;
    if (isCommand && rest.length === 0)
      throw new HoldfastError("usage", "expected an agent, or a command after --", {
        hint: "for example: holdfast create demo --name demo",
      });
    if (isCommand && prompt !== undefined)
      throw new HoldfastError("usage", "--prompt needs an agent", {
        hint: "for example: holdfast create claude --prompt 'fix the login bug'",
      });
    const what = isCommand
      ? { agent: "shell", command: [...rest] }
      : {
          agent: agent ?? "",
          args: [...rest],
          prompt,
          persona,
          chat: flags.has("chat"),
          model: flags.text("model"),
          mode: flags.text("mode"),
        };
    printStarted(await startSession(context, { ...what, start: false }), context.json);
    return 0;
  },
};
