import { HoldfastError } from "@holdfast/contract/errors";
import type { Command, Context } from "../command.ts";
import type { Wanted } from "../repl/open.ts";
import { START_FLAGS } from "../start-session.ts";

const { cwd, worktree, base, "no-setup": noSetup, trust, workspace, env, budget, group, role, objective } = START_FLAGS;

export const command: Command = {
  name: "chat",
  summary: "talk with an agent: a new conversation, or one that is there",
  usage: "[NAME|AGENT] [--agent A] [--persona P] [--session NAME] [--resume NAME] [--model M] [-p TEXT|-]",
  description:
    "With a name it goes on with that conversation, and starts its agent again where that has ended; with an agent's name, or without one, it begins a\nnew one. Leaving (Ctrl+D) ends nothing: an agent that works goes on, and chat NAME comes back to it. Two people in one conversation see each\nother.\n\n-p says one thing, prints the answer and ends: 0 where there is one, else an exit code that says why not. What is piped in is said likewise.\nInside, /help lists the commands.\n\nFor an existing conversation, --budget changes its limits and --group adds it to a group. --env starts its agent again with other variables,\nfor example a rotated key. Options that apply only to a new session are refused.",
  arguments: "sessions",
  takesRest: true,
  flags: {
    agent: { value: "AGENT", summary: "begin a new one with this agent (holdfast agents lists them)", complete: "agents" },
    persona: { value: "PERSONA", summary: "begin a new one in this role (holdfast personas lists them)", complete: "personas" },
    session: { value: "NAME", summary: "what it is called: go on with it, or begin it if there is none", complete: "sessions" },
    resume: { value: "NAME", summary: "go on with this one, by name or id", complete: "sessions" },
    model: { value: "MODEL", summary: "which model, where the agent lets one choose", complete: "nothing" },
    mode: { value: "MODE", summary: "which mode, where the agent has several", complete: "nothing" },
    prompt: {
      value: "TEXT",
      short: "p",
      summary: "say this, print the answer, and end; - reads it from standard input",
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
  examples: [
    ["holdfast chat claude", "a new conversation, here"],
    ["holdfast chat claude --session review --worktree", "with a name, in a git worktree of its own"],
    ["holdfast chat review", "go on with it, by name or id"],
    ["holdfast chat demo -p 'say hello'", "one turn: the answer on standard output"],
    ["holdfast chat review --env ANTHROPIC_API_KEY", "with the key that your shell has now"],
    ["git diff | holdfast chat review", "what is piped in is what is said"],
  ],
  async run(context) {
    const wanted = wantedOf(context);
    const prompt = await promptOf(context);
    if (prompt !== undefined) return (await import("../repl/once.ts")).answerOnce(context, wanted, prompt);
    if (context.json) throw new HoldfastError("usage", "--json is for one turn", { hint: "add -p TEXT" });
    return (await import("../repl/repl.ts")).talk(context, wanted);
  },
};

function wantedOf({ args, rest, flags }: Context): Wanted {
  const [first, ...more] = args;
  const resume = flags.text("resume");
  const session = flags.text("session");
  // Of `chat claude --session review` the word is the agent.
  const agent = flags.text("agent") ?? (session === undefined ? undefined : first);
  const name = agent === first ? undefined : first;
  const named = [name, resume, session].filter((each) => each !== undefined);
  if (more.length > 0 || named.length > 1) {
    throw new HoldfastError("usage", `say one conversation, not ${[...named, ...more].map((each) => JSON.stringify(each)).join(" and ")}`, {
      hint: "see: holdfast chat --help",
    });
  }
  const persona = flags.text("persona");
  // With an agent it may be a new one; without, one that is there is meant.
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

/** What is to be said at once: `-p`, or what is piped in. */
async function promptOf({ flags }: Context): Promise<string | undefined> {
  const given = flags.text("prompt");
  const isPiped = given === "-" || (given === undefined && !process.stdin.isTTY);
  const text = isPiped ? (await (await import("../read-input.ts")).readInput()).trimEnd() : given;
  if (text === undefined || text.trim() !== "") return text;
  throw new HoldfastError("usage", "there is nothing to say", { hint: "say it with -p TEXT, pipe it in, or run chat on a terminal" });
}
