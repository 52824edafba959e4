import { HoldfastError } from "@holdfast/contract/errors";
import type { Command, Context } from "../command.ts";
import type { Wanted } from "../repl/open.ts";
import { START_FLAGS } from "../session/start.ts";

const { cwd, worktree, base, "no-setup": noSetup, trust, workspace, env, budget, group, role, objective } = START_FLAGS;

export const command: Command = {
  name: "chat",
  summary: "talk to an agent in a new or existing conversation",
  section: "Start agents and commands",
  startsPrograms: true,
  usage: "[NAME|AGENT] [--agent A] [--persona P] [--session NAME] [--resume NAME] [--model M] [-p TEXT|-]",
  description:
    "NAME continues that conversation and restarts its agent if it has ended. AGENT, or no argument, starts a new conversation. Ctrl+D leaves the conversation; the agent keeps running, and chat NAME returns to it. Several people can take part in one conversation and see each other.\n\n-p sends one prompt, prints the answer and exits: with 0 if there is an answer, otherwise with an exit code that says why. Piped input is sent the same way. Inside a conversation, /help lists the commands.\n\nFor an existing conversation, --budget changes its limits and --group adds it to a group. --env restarts its agent with other variables, for example a rotated key. Flags that apply only to a new session are refused.",
  arguments: "sessions",
  takesRest: true,
  flags: {
    agent: { value: "AGENT", summary: "start a new conversation with this agent (see holdfast agents)", complete: "agents" },
    persona: { value: "PERSONA", summary: "start a new conversation in this role (see holdfast personas)", complete: "personas" },
    session: { value: "NAME", summary: "continue the conversation of this name; start it if it does not exist", complete: "sessions" },
    resume: { value: "NAME", summary: "continue this conversation, by name or id", complete: "sessions" },
    model: { value: "MODEL", summary: "model, if the agent offers a choice", complete: "nothing" },
    mode: { value: "MODE", summary: "mode, if the agent has several", complete: "nothing" },
    prompt: {
      value: "TEXT",
      short: "p",
      summary: "send this prompt, print the answer and exit; - reads standard input",
      complete: "nothing",
    },
    cwd,
    worktree,
    base,
    "no-setup": noSetup,
    trust,
    workspace,
    env,
    budget,
    group,
    role,
    objective,
  },
  instead: { name: (argv) => ["chat", ...argv.map((word) => word.replace(/^--name(?==|$)/, "--session"))] },
  examples: [
    ["holdfast chat claude", "start a new conversation in this directory"],
    ["holdfast chat claude --session review --worktree", "start a named conversation in its own git worktree"],
    ["holdfast chat review", "continue a conversation by name or id"],
    ["holdfast chat demo -p 'say hello'", "run one turn and print the answer"],
    ["holdfast chat review --env ANTHROPIC_API_KEY", "restart the agent with your shell's current key"],
    ["git diff | holdfast chat review", "send piped input"],
  ],
  async run(context) {
    const wanted = wantedOf(context);
    const prompt = await promptOf(context);
    if (prompt === undefined && context.json) throw new HoldfastError("usage", "--json needs -p", { hint: "add -p TEXT" });
    const talk = async () =>
      prompt === undefined
        ? (await import("../repl/repl.ts")).talk(context, wanted)
        : (await import("../repl/once.ts")).answerOnce(context, wanted, prompt);
    try {
      return await talk();
    } catch (error) {
      const { installedAdapter } = await import("../repl/adapter.ts");
      if (!(await installedAdapter(context, error))) throw error;
      return talk();
    }
  },
};

function wantedOf({ args, rest, flags }: Context): Wanted {
  const [first, ...more] = args;
  const resume = flags.text("resume");
  const session = flags.text("session");
  // In `chat claude --session review` the word is the agent.
  const agent = flags.text("agent") ?? (session === undefined ? undefined : first);
  const name = agent === first ? undefined : first;
  const named = [name, resume, session].filter((each) => each !== undefined);
  if (more.length > 0 || named.length > 1) {
    throw new HoldfastError(
      "usage",
      `expected one conversation, got ${[...named, ...more].map((each) => JSON.stringify(each)).join(" and ")}`,
      {
        hint: "see: holdfast chat --help",
      },
    );
  }
  const persona = flags.text("persona");
  // With an agent, a new conversation is possible; without one, the name must exist.
  const isNew = session !== undefined || agent !== undefined || persona !== undefined;
  return {
    existing: resume ?? (isNew ? undefined : name),
    orAgent: resume === undefined && session === undefined,
    name: isNew ? (session ?? name) : undefined,
    agent,
    persona,
    model: flags.text("model"),
    mode: flags.text("mode"),
    args: rest,
  };
}

/** The first prompt: `-p`, or piped input. */
async function promptOf({ flags }: Context): Promise<string | undefined> {
  const given = flags.text("prompt");
  const isPiped = given === "-" || (given === undefined && !process.stdin.isTTY);
  const text = isPiped ? (await (await import("../console/read-input.ts")).readInput()).trimEnd() : given;
  if (text === undefined || text.trim() !== "") return text;
  throw new HoldfastError("usage", "the prompt is empty", { hint: "pass -p TEXT, pipe a text in, or run chat on a terminal" });
}
