import { VERSION } from "@holdfast/contract/version";
import { type Declaration, type Flag, SECTIONS } from "../command.ts";
import { COMMANDS, findCommand } from "../registry.ts";
import { color } from "../text/color.ts";
import { helpWidth, paragraphs, twoColumns, usageLines, wrapWords } from "./help-text.ts";
import { COMMON_FLAGS, PAGER_FLAG } from "./parse.ts";
import { unknownCommand } from "./unknown-command.ts";

export async function printHelp(name?: string, verb?: string): Promise<number> {
  const load = name === undefined ? undefined : findCommand(name);
  if (load) {
    const { command } = await load();
    const inner = verb !== undefined && Object.hasOwn(command.verbs ?? {}, verb) ? command.verbs?.[verb] : undefined;
    return printCommandHelp(inner ? (await inner()).command : command);
  }
  if (name !== undefined && !name.startsWith("-")) throw unknownCommand(name);
  const width = helpWidth();
  const commands = await Promise.all(Object.values(COMMANDS).map(async (load) => (await load()).command));
  const column = Math.max(...commands.map(({ name: { length } }) => length));
  const sections = SECTIONS.flatMap((title) => {
    const rows = commands.filter(({ section }) => section === title).map(({ name, summary }) => [name.padEnd(column), summary] as const);
    return [color("bold", title), ...twoColumns(rows, width), ""];
  });
  print([
    `holdfast ${VERSION} keeps AI coding agents running after you close the terminal.`,
    "",
    color("bold", "Usage"),
    "  holdfast [-H MACHINE] COMMAND [ARGUMENTS] [FLAGS]",
    "",
    color("bold", "Get started"),
    ...exampleLines([
      ["holdfast spawn claude --name fix 'fix the login bug'", "start an agent; holdfast agents lists the ones you have"],
      ["holdfast ls", "list sessions and their status; waiting ones come first"],
      ["holdfast approvals allow fix", "allow its permission request"],
      ["holdfast attach fix", "see its screen and type to it; Ctrl+\\ leaves it running"],
      ["holdfast next", "attach to the session that has waited longest for you"],
    ]),
    "",
    ...sections,
    color("bold", "Remote machines"),
    ...twoColumns(
      [
        ["-H, --machine MACHINE", "run the command on MACHINE over ssh: user@machine, a host of ~/.ssh/config, or a [machines.NAME] table"],
        ["HOLDFAST_MACHINE", "environment variable: the default for -H"],
      ],
      width,
    ),
    "",
    color("bold", "Pager"),
    ...paragraphs(
      "On a terminal, help and long output go through $HOLDFAST_PAGER, else $PAGER, else less. Pass --no-pager, or set HOLDFAST_PAGER=cat, to print directly.",
      width - 2,
    ).map((line) => `  ${line}`),
    "",
    ...paragraphs(
      "Run holdfast COMMAND --help for the details of a command, and holdfast spawn demo to try a scripted agent that needs no account. Refer to a session by its name, its id, or the beginning of its id.",
      width,
    ),
  ]);
  return 0;
}

export async function printCommandHelp(command: Declaration): Promise<number> {
  const width = helpWidth();
  const flags = Object.entries({ ...command.flags, ...(command.pages ? PAGER_FLAG : {}), ...COMMON_FLAGS }).map(([name, flag]) => {
    const short = flag.short ? `-${flag.short}, ` : "    ";
    return [`${short}--${name}${valueWord(flag)}`, flag.summary] as const;
  });
  print([
    ...paragraphs(`holdfast ${command.name}: ${command.summary}`, width),
    ...(command.description ? ["", ...paragraphs(command.description, width)] : []),
    "",
    color("bold", "Usage"),
    ...usageLines(`holdfast ${command.name} ${command.usage}`.trimEnd(), width),
    ...(await verbLines(command, width)),
    "",
    color("bold", "Flags"),
    ...twoColumns(flags, width),
    "",
    color("bold", "Examples"),
    ...exampleLines(command.examples),
  ]);
  return 0;
}

/** The comment has its own line: zsh would pass a trailing one as arguments. */
function exampleLines(examples: Declaration["examples"]): string[] {
  return examples.flatMap(([line, what]) => [color("dim", `  # ${what}`), `  ${line}`]);
}

async function verbLines({ name, verbs = {} }: Declaration, width: number): Promise<string[]> {
  if (Object.keys(verbs).length === 0) return [];
  const commands = await Promise.all(Object.values(verbs).map(async (load) => (await load()).command));
  return [
    "",
    color("bold", "Verbs"),
    ...commands.flatMap(({ name: full, usage, summary }) => [
      ...usageLines(`${full.slice(name.length + 1)} ${usage}`.trimEnd(), width),
      ...wrapWords(summary.split(" "), { first: 6, rest: 6, width }).map((line) => color("dim", line)),
    ]),
    "",
    `Run holdfast ${name} VERB --help for the details of a verb.`,
  ];
}

function valueWord({ value, optional }: Flag): string {
  if (value === undefined) return "";
  return optional ? ` [${value}]` : ` ${value}`;
}

function print(lines: string[]): void {
  process.stdout.write(`${lines.join("\n")}\n`);
}
