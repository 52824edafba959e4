import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";
import { readInput } from "../read-input.ts";
import { printStarted, START_FLAGS, startSession } from "../start-session.ts";

export const command: Command = {
  name: "spawn",
  summary: "start an agent in a session of its own",
  usage:
    "AGENT [--prompt TEXT|-] [--name NAME] [--worktree [BRANCH]] [--cwd DIR] [--env K=V]… [--role TEXT] [--objective TEXT] [--budget LIMITS] [--group GROUP]… [--best-of N [--agents A,B]] [-- ARGS…]",
  description:
    "holdfast agents lists them: claude, codex, gemini and others; demo, a scripted stand-in to try things out; shell, your login shell.\n--best-of starts several on one prompt, NAME-1, NAME-2 and so on, each in a worktree of its own from the same commit: see compare and keep.\nAsked for again with the same name, prompt and agents, it starts those that are missing.",
  flags: {
    prompt: { value: "TEXT", summary: "what it is to do first; - reads it from standard input", complete: "nothing" },
    "best-of": { value: "N", summary: "start so many on the same prompt, each in a worktree of its own", complete: "nothing" },
    agents: { value: "A,B", summary: "with --best-of: these agents in turn (comma-separated)", multiple: true, complete: "agents" },
    persona: { value: "PERSONA", summary: "in this role (holdfast personas lists them), which may say the agent", complete: "personas" },
    interactive: { short: "i", summary: "as a conversation, and talk with it here: the same as chat" },
    agent: { value: "AGENT", summary: "the agent, in place of the argument", complete: "agents" },
    session: {
      value: "NAME",
      summary: "talk with it here: go on with this conversation, or begin it if there is none",
      complete: "sessions",
    },
    resume: { value: "NAME", summary: "talk with it here: go on with this conversation", complete: "sessions" },
    chat: { summary: "as a conversation, without a terminal: exact status, a transcript, approvals in the inbox; see holdfast chat" },
    model: { value: "MODEL", summary: "with --chat: the model, where the agent offers a choice", complete: "nothing" },
    mode: { value: "MODE", summary: "with --chat: the agent's mode, where it has some", complete: "nothing" },
    "no-report": { summary: "inside a session: do not send it what this one answers and how it ends" },
    "no-context": { summary: "tell it nothing of the Working Context (see holdfast context)" },
    ...START_FLAGS,
  },
  arguments: "agents",
  examples: [
    ["holdfast spawn demo --name demo", "the demo agent, waiting for a prompt"],
    ["holdfast spawn claude --prompt 'fix the login bug'", "an agent that begins at once"],
    ["holdfast spawn claude --worktree --prompt 'add tests'", "in a git worktree of its own"],
    ["holdfast spawn --best-of 3 --agents claude,codex,gemini --name fix --prompt 'fix it'", "three at once; then: holdfast compare fix"],
    ["holdfast spawn -i claude", "talk with it: the same as holdfast chat claude"],
    ["holdfast spawn --resume review", "go on talking: the same as holdfast chat review"],
    ["holdfast spawn --chat claude --prompt 'fix it'", "as a conversation; then: holdfast transcript NAME -f"],
    ["holdfast spawn claude --budget turns=10,cost=2.50 --prompt 'add tests'", "stopped when it has used that"],
    ["holdfast spawn claude --group team --prompt 'write the tests'", "it is told who else is in team, and how to reach them"],
    ["holdfast spawn demo -- --loop", "arguments after -- go to the agent"],
    ["holdfast spawn shell --cwd ~/app --objective 'try the fix'", "a shell that outlives this terminal"],
  ],
  takesRest: true,
  async run(context) {
    const [agent = context.flags.text("agent"), ...more] = context.args;
    const isTalk = context.flags.has("interactive") || ["session", "resume"].some((flag) => context.flags.text(flag) !== undefined);
    const isTournament = context.flags.text("best-of") !== undefined || context.flags.list("agents").length > 0;
    const persona = context.flags.text("persona");
    if (agent === undefined && persona === undefined && !isTournament && !isTalk)
      throw new HoldfastError("usage", "say which agent", { hint: "for example: holdfast spawn demo" });
    if (more.length > 0)
      throw new HoldfastError("usage", `${JSON.stringify(more[0])} is one argument too many`, {
        hint: "a prompt goes after --prompt, in quotes; arguments for the agent go after --",
      });
    const given = context.flags.text("prompt");
    const prompt = given === "-" ? (await readInput()).trimEnd() : given;
    if (prompt?.trim() === "")
      throw new HoldfastError("usage", "the first prompt is empty", { hint: "leave --prompt out, or say what it is to do" });
    if (isTournament) {
      if (persona !== undefined) throw new HoldfastError("usage", "--persona is for one agent", { hint: "leave out --best-of" });
      const { startTournament } = await import("../tournament/start.ts");
      return startTournament(context, { agent, prompt });
    }
    const { flags } = context;
    if (isTalk) {
      if (flags.text("name") !== undefined && flags.text("session") !== undefined)
        throw new HoldfastError("usage", "--name and --session both say what it is called", { hint: "give one of the two" });
      const which = { existing: flags.text("resume"), name: flags.text("session") ?? flags.text("name") };
      const wanted = { ...which, agent, persona, model: flags.text("model"), mode: flags.text("mode"), args: context.rest };
      return (await import("../repl/repl.ts")).talk(context, wanted, prompt);
    }
    const talk = { chat: flags.has("chat"), model: flags.text("model"), mode: flags.text("mode") };
    printStarted(await startSession(context, { agent: agent ?? "", args: [...context.rest], prompt, persona, ...talk }), context.json);
    return 0;
  },
};
