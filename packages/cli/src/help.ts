import { VERSION } from "@holdfast/contract/version";
import { color } from "./color.ts";
import type { Command, Flag } from "./command.ts";
import { COMMON_FLAGS } from "./command-line.ts";
import { findCommand } from "./registry.ts";
import { unknownCommand } from "./unknown-command.ts";

/** Every command that is not hidden is in one of them. */
export const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  "Start agents and commands": ["spawn", "chat", "run", "create", "start", "task", "apply", "agents", "personas"],
  "See what they do": ["ls", "show", "digest", "last", "explain", "usage", "statusline"],
  "Be there": ["next", "attach", "detach", "control", "handover"],
  "Say and answer": ["send", "messages", "approvals", "cancel", "keys", "wait"],
  "Read what they said and showed": ["transcript", "logs", "screen", "replay", "export"],
  "Let them work together": ["group", "context", "mcp"],
  "Give each a workspace": ["workspace", "trust", "checkpoint", "compare", "keep"],
  "End, and come back": ["stop", "resume", "fork", "restore", "adopt", "rename", "rm"],
  "Look after it": [
    "status",
    "doctor",
    "events",
    "audit",
    "du",
    "prune",
    "backup",
    "orphans",
    "token",
    "up",
    "down",
    "boot",
    "version",
    "completion",
  ],
};

export async function printHelp(name?: string, verb?: string): Promise<number> {
  const load = name === undefined ? undefined : findCommand(name);
  if (load) {
    const { command } = await load();
    const inner = verb === undefined ? undefined : command.verbs?.[verb];
    return printCommandHelp(inner ? (await inner()).command : command);
  }
  if (name !== undefined && !name.startsWith("-")) throw unknownCommand(name);
  const width = Math.max(...Object.values(SECTIONS).flatMap((names) => names.map(({ length }) => length)));
  const sections = await Promise.all(Object.entries(SECTIONS).map(([title, names]) => sectionLines(title, names, width)));
  print([
    `holdfast ${VERSION} keeps AI coding agents running: close the terminal, they go on.`,
    "",
    color("bold", "Usage"),
    "  holdfast [-H MACHINE] COMMAND [ARGUMENTS] [FLAGS]",
    "",
    ...sections.flat(),
    color("bold", "Another machine"),
    "  -H, --machine MACHINE   the holdfast there, through ssh: user@machine, a name of ~/.ssh/config, or [machines.NAME] of config.toml",
    "  HOLDFAST_MACHINE        the same for every command of a shell",
    "",
    color("bold", "Try"),
    "  holdfast spawn demo --name demo    start the demo agent",
    "  holdfast attach demo               look at it; Ctrl+\\ leaves it running",
    "  holdfast run -- npm test           run a command in the background",
    "",
    "holdfast COMMAND --help tells more. A session is named by its name, its id, or the beginning of its id.",
  ]);
  return 0;
}

async function sectionLines(title: string, names: readonly string[], width: number): Promise<string[]> {
  const summaries = await Promise.all(names.map(async (name) => (await findCommand(name)?.())?.command.summary ?? ""));
  return [color("bold", title), ...names.map((name, index) => `  ${name.padEnd(width)}  ${summaries[index]}`), ""];
}

export async function printCommandHelp(command: Command): Promise<number> {
  const flags = Object.entries({ ...command.flags, ...COMMON_FLAGS }).map(([name, flag]) => {
    const short = flag.short ? `-${flag.short}, ` : "    ";
    return [`${short}--${name}${valueWord(flag)}`, flag.summary] as const;
  });
  const width = Math.max(...flags.map(([left]) => left.length));
  const exampleWidth = Math.max(...command.examples.map(([left]) => left.length));
  print([
    `holdfast ${command.name}: ${command.summary}`,
    ...(command.description ? ["", command.description] : []),
    "",
    color("bold", "Usage"),
    `  holdfast ${command.name} ${command.usage}`.trimEnd(),
    ...(await verbLines(command)),
    "",
    color("bold", "Flags"),
    ...flags.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`),
    "",
    color("bold", "Examples"),
    ...command.examples.map(([left, right]) => `  ${left.padEnd(exampleWidth)}  ${color("dim", `# ${right}`)}`),
  ]);
  return 0;
}

async function verbLines({ name, verbs = {} }: Command): Promise<string[]> {
  if (Object.keys(verbs).length === 0) return [];
  const commands = await Promise.all(Object.values(verbs).map(async (load) => (await load()).command));
  const lines = commands.map((each) => [`${each.name.slice(name.length + 1)} ${each.usage}`.trimEnd(), each.summary] as const);
  return [
    "",
    color("bold", "Verbs"),
    ...lines.flatMap(([left, right]) => [`  ${left}`, `      ${color("dim", right)}`]),
    "",
    `holdfast ${name} VERB --help tells more of one.`,
  ];
}

function valueWord({ value, optional }: Flag): string {
  if (value === undefined) return "";
  return optional ? ` [${value}]` : ` ${value}`;
}

function print(lines: string[]): void {
  process.stdout.write(`${lines.join("\n")}\n`);
}
