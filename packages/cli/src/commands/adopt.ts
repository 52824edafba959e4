import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Adoptable, AdoptReply } from "@holdfast/contract/adoption-endpoints";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command, Context } from "../command.ts";
import { plain } from "../plain.ts";

export const command: Command = {
  name: "adopt",
  summary: "make an agent that you started yourself a session, where it is",
  usage: "--tmux [SOCKET:]SESSION[.PANE] | --pid PID | --list  [--name NAME] [--agent AGENT] [--conversation ID] [--resume-when-ended]",
  description:
    "An agent in a pane of your own tmux is watched, recorded from now on and typed into where it is: nothing of your tmux is changed. One on any other\nterminal is known until it ends; then holdfast resume goes on with its conversation. What could not be taken over is said.\nSOCKET is a path, or a name as tmux -L takes it; without it your default server, or the one you are in.\nstop ends the agent and what it started, never your shell, your tmux session or its server. down --all leaves it alone; rm lets it go.",
  arguments: "nothing",
  flags: {
    list: { summary: "agents that run outside of Holdfast" },
    tmux: {
      value: "PANE",
      summary: "SESSION, SESSION.PANE, SESSION:WINDOW.PANE or %ID; before it SOCKET: where it is not on your default server",
      complete: "nothing",
    },
    pid: { value: "PID", summary: "the agent's process", complete: "nothing" },
    name: { value: "NAME", summary: "what to call the session", complete: "nothing" },
    agent: { value: "AGENT", summary: "what it is, where that does not show", complete: "agents" },
    role: { value: "TEXT", summary: "what it is there for", complete: "nothing" },
    objective: { value: "TEXT", summary: "what it works on", complete: "nothing" },
    conversation: { value: "ID", summary: "the agent's own id of its conversation, where you know it", complete: "nothing" },
    "resume-when-ended": { summary: "go on with its conversation, as a run of Holdfast's own, as soon as it has ended" },
  },
  examples: [
    ["holdfast adopt --list", "what there is"],
    ["holdfast adopt --tmux work", "the agent in your tmux session work"],
    ["holdfast adopt --tmux other:work.1 --name fix-login", "in pane 1 of its window, on the server of tmux -L other"],
    ["holdfast adopt --pid 4711", "by its process"],
    ["holdfast adopt --pid 4711 --resume-when-ended", "and take its conversation over when you leave it"],
  ],
  async run(context) {
    const { flags, args } = context;
    if (args.length > 0)
      throw new HoldfastError("usage", `adopt takes no ${JSON.stringify(args[0])}`, { hint: "see: holdfast adopt --help" });
    if (flags.has("list")) return list(context);
    const [pane, pid] = [flags.text("tmux"), flags.text("pid")];
    if (pid !== undefined && !(/^\d{1,9}$/.test(pid) && Number(pid) > 1))
      throw new HoldfastError("usage", `--pid takes the number of an agent's process, not ${JSON.stringify(pid)}`, {
        hint: "see what there is: holdfast adopt --list",
      });
    if ((pane === undefined) === (pid === undefined)) {
      throw new HoldfastError("usage", "say --tmux PANE or --pid PID", { hint: "see what there is: holdfast adopt --list" });
    }
    const what = { name: flags.text("name"), agent: flags.text("agent"), role: flags.text("role"), objective: flags.text("objective") };
    const where = pane === undefined ? { pid: Number(pid) } : { tmux: paneOf(pane) };
    const body = { ...where, ...what, conversation: flags.text("conversation"), resumeWhenEnded: flags.has("resume-when-ended") };
    const reply = await context.client.call("adopt", { body });
    process.stdout.write(context.json ? `${JSON.stringify(reply)}\n` : told(reply));
    return 0;
  },
};

async function list(context: Context): Promise<number> {
  const { agents } = await context.client.call("listAdoptable", {});
  if (context.json) process.stdout.write(`${JSON.stringify(agents)}\n`);
  else process.stdout.write(agents.length === 0 ? "No agent runs outside of Holdfast.\n" : `${agents.flatMap(render).join("\n")}\n`);
  return 0;
}

function render(agent: Adoptable): string[] {
  const where = agent.socket === null ? `--pid ${agent.pid}` : `--tmux ${agent.socket}:${agent.target}`;
  const terminal = agent.socket === null ? "; its terminal cannot be reached" : "";
  return [
    `${plain(agent.agent)}  pid ${agent.pid}  ${plain(agent.cwd ?? "")}`,
    `    ${plain(agent.command)}${terminal}`,
    `    holdfast adopt ${plain(where)}`,
  ];
}

function told({ session, missing }: AdoptReply): string {
  const name = plain(session.name);
  const lines = missing.map((each) => `  ${plain(each)}`);
  return `${name} is a session: ${plain(session.agent)}, pid ${session.pid}\nnot taken over:\n${lines.join("\n")}\n`;
}

/** As tmux finds its servers: a path, a name in its directory, the one this terminal is in, the default one. */
function paneOf(text: string): { socket: string; target: string } {
  const directory = join(process.env.TMUX_TMPDIR || "/tmp", `tmux-${process.getuid?.() ?? 0}`);
  const usual = process.env.TMUX?.split(",")[0] || join(directory, "default");
  const [, name, target = ""] = /^(.+?):(.+)$/.exec(text) ?? [];
  if (name === undefined) {
    if (text.startsWith("/"))
      throw new HoldfastError("usage", `which session on ${text}?`, { hint: "say it behind a colon: SOCKET:SESSION" });
    return { socket: usual, target: text };
  }
  const socket = name.startsWith("/") ? name : join(directory, name);
  // As tmux itself names a pane: SESSION:WINDOW.PANE.
  if (/^\d+(\.%?\d+)?$/.test(target) && !existsSync(socket)) return { socket: usual, target: text };
  return { socket, target };
}
