import { existsSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Adoptable, AdoptReply } from "@holdfast/contract/session/adoption";
import type { Command, Context } from "../command.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "adopt",
  summary: "turn an agent you started yourself into a session",
  section: "Stop and resume",
  usage: "--tmux [SOCKET:]SESSION[.PANE] | --pid PID | --list  [--name NAME] [--agent AGENT] [--conversation ID] [--resume-when-ended]",
  description:
    "An agent in your own tmux stays where it is. Holdfast watches it, records its output from now on, and types into its pane; your tmux stays unchanged. An agent on another terminal is tracked until it ends; then holdfast resume continues its conversation. The command reports what could not be adopted.\n\nSOCKET is a path, or a name as in tmux -L. The default is the tmux server you are in, else your default server.\n\nholdfast stop ends the agent and its processes, but never your shell, your tmux session or its server. holdfast down --all leaves the agent running. holdfast rm releases it.",
  arguments: "nothing",
  flags: {
    list: { summary: "list agents that run outside Holdfast" },
    tmux: {
      value: "PANE",
      summary: "SESSION, SESSION.PANE, SESSION:WINDOW.PANE or %ID; with SOCKET: before it for another server",
      complete: "nothing",
    },
    pid: { value: "PID", summary: "process id of the agent", complete: "nothing" },
    name: { value: "NAME", summary: "name of the session", complete: "nothing" },
    agent: { value: "AGENT", summary: "agent, if it is not detected", complete: "agents" },
    role: { value: "TEXT", summary: "role of the session, a note for people", complete: "nothing" },
    objective: { value: "TEXT", summary: "objective of the session, a note for people", complete: "nothing" },
    conversation: { value: "ID", summary: "the agent's own conversation id, if you know it", complete: "nothing" },
    "resume-when-ended": { summary: "when the agent ends, continue its conversation in a session of Holdfast" },
  },
  examples: [
    ["holdfast adopt --list", "list the agents"],
    ["holdfast adopt --tmux work", "adopt the agent in your tmux session work"],
    ["holdfast adopt --tmux other:work.1 --name fix-login", "adopt pane 1 of a session on the server tmux -L other"],
    ["holdfast adopt --pid 4711", "adopt an agent by its process id"],
    ["holdfast adopt --pid 4711 --resume-when-ended", "continue its conversation here when you quit the agent"],
  ],
  async run(context) {
    const { flags, args } = context;
    if (args.length > 0)
      throw new HoldfastError("usage", `unexpected argument ${JSON.stringify(args[0])}`, { hint: "see: holdfast adopt --help" });
    if (flags.has("list")) {
      const other = Object.keys(command.flags ?? {}).find((flag) => flag !== "list" && (flags.has(flag) || flags.text(flag) !== undefined));
      if (other !== undefined)
        throw new HoldfastError("usage", `--list takes no --${other}`, { hint: "list agents: holdfast adopt --list" });
      return list(context);
    }
    const [pane, pid] = [flags.text("tmux"), flags.text("pid")];
    if (pid !== undefined && !(/^\d{1,9}$/.test(pid) && Number(pid) > 1))
      throw new HoldfastError("usage", `--pid takes a process id, not ${JSON.stringify(pid)}`, {
        hint: "list the agents: holdfast adopt --list",
      });
    if ((pane === undefined) === (pid === undefined)) {
      throw new HoldfastError("usage", "expected --tmux PANE or --pid PID", { hint: "list the agents: holdfast adopt --list" });
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
  else process.stdout.write(agents.length === 0 ? "No agent runs outside Holdfast.\n" : `${agents.flatMap(render).join("\n")}\n`);
  return 0;
}

function render(agent: Adoptable): string[] {
  const where = agent.socket === null ? `--pid ${agent.pid}` : `--tmux ${agent.socket}:${agent.target}`;
  const terminal = agent.socket === null ? "; its terminal is not accessible" : "";
  return [
    `${plain(agent.agent)}  pid ${agent.pid}  ${plain(agent.cwd ?? "")}`,
    `    ${plain(agent.command)}${terminal}`,
    `    holdfast adopt ${plain(where)}`,
  ];
}

function told({ session, missing }: AdoptReply): string {
  const name = plain(session.name);
  const lines = missing.map((each) => `  ${plain(each)}`);
  return `${name} is a session: ${plain(session.agent)}, pid ${session.pid}\nnot adopted:\n${lines.join("\n")}\n`;
}

/** Resolves like tmux: a path, a name in its directory, the server of this terminal, or the default server. */
function paneOf(text: string): { socket: string; target: string } {
  const directory = join(process.env.TMUX_TMPDIR || "/tmp", `tmux-${process.getuid?.() ?? 0}`);
  const usual = process.env.TMUX?.split(",")[0] || join(directory, "default");
  const [, name, target = ""] = /^(.+?):(.+)$/.exec(text) ?? [];
  if (name === undefined) {
    if (text.startsWith("/"))
      throw new HoldfastError("usage", `no session given for ${text}`, { hint: "pass it after a colon: SOCKET:SESSION" });
    return { socket: usual, target: text };
  }
  const socket = name.startsWith("/") ? name : join(directory, name);
  // The target may have tmux's own form: SESSION:WINDOW.PANE.
  if (/^\d+(\.%?\d+)?$/.test(target) && !existsSync(socket)) return { socket: usual, target: text };
  return { socket, target };
}
