/**
 * The CLI. There is one catch: every failure becomes one line on standard error, a hint, and the exit code of its error class. Start-up time is
 * a feature: this file imports nothing that `holdfast ls` does not need.
 */
import { existsSync } from "node:fs";
import { HoldfastError } from "@holdfast/contract/errors";
import { openHome } from "@holdfast/platform/home";
import type { HoldfastClient } from "@holdfast/sdk/client";
import type { Commands } from "./command.ts";
import { connect } from "./connection/connect.ts";
import type { Pager } from "./console/pager.ts";
import { printSafely } from "./console/safe-output.ts";
import { parseCommandLine } from "./line/parse.ts";
import { findCommand } from "./registry.ts";

let endsAtOnce = false;

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
    // An orderly shutdown costs a tenth of a whole `ls`, and nothing depends on it.
    if (endsAtOnce && process.stdout.writableLength === 0) process.exit();
  },
  async (thrown: unknown) => {
    const { printError } = await import("./console/print-error.ts");
    const error = HoldfastError.from(thrown);
    const isMisread = error.code === "usage" && process.env.HOLDFAST_CALLER;
    const told = isMisread ? (await import("./far/caller.ts")).withCaller(error, process.env.HOLDFAST_CALLER) : error;
    process.exitCode = printError(told, { json: asksForJson(process.argv.slice(2)) });
  },
);

async function main(argv: string[]): Promise<number> {
  const first = argv[0] ?? "";
  if (!first.startsWith("-H") && !first.startsWith("--machine") && !process.env.HOLDFAST_MACHINE) return runHere(argv);
  const { goFar } = await import("./far/far.ts");
  const way = await goFar(argv);
  return "code" in way ? way.code : runHere(way.argv, way.client);
}

/** Runs on this machine's daemon, or on the one that the client is connected to. */
async function runHere(argv: string[], far?: HoldfastClient): Promise<number> {
  // A reader that stops early (`holdfast logs x | head`) is not a failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    process.stderr.write(`holdfast: cannot write the output: ${error.message}\n`);
    process.exit(1);
  });
  if (process.env.HOLDFAST_SCREEN) (await import("./far/screen.ts")).takeScreen(process.env.HOLDFAST_SCREEN);
  const isDirect = argv[0] === "--no-pager";
  const [name, ...args] = isDirect ? argv.slice(1) : argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    const { printHelp } = await import("./line/help.ts");
    const [about, verb] = args.filter((word) => word !== "--no-pager");
    return paged(!isDirect && !args.includes("--no-pager"), () => printHelp(about, verb));
  }
  const load = findCommand(name === "--version" || name === "-V" ? "version" : name) ?? (await internal(name));
  if (!load) throw (await import("./line/unknown-command.ts")).unknownCommand(name);
  const loaded = await load();
  const { command, argv: own } = loaded.command.verbs
    ? await (await import("./line/verbs.ts")).chooseVerb(loaded.command, args)
    : { command: loaded.command, argv: args };
  endsAtOnce = command.endsAtOnce === true && !isDirect;
  const line = parseCommandLine(command, own);
  if (line.flags.has("help")) {
    const { printCommandHelp } = await import("./line/help.ts");
    return paged(!isDirect && !line.flags.has("no-pager"), () => printCommandHelp(command));
  }
  const home = openHome();
  const json = line.flags.has("json");
  // Open the pager before output is made safe: its input must be safe too.
  const pager = await openPager(!isDirect && !line.flags.has("no-pager") && command.pages?.(line) === true);
  if (!command.showsTerminal || json)
    for (const stream of [process.stdout, process.stderr]) printSafely(stream, { json: json || command.printsJson === true });
  using client = far ?? connect(home, { onlyReads: command.onlyReads === true, stops: command.stops === true, quiet: json });
  try {
    return (await command.run?.({ ...line, json, home, client })) ?? 0;
  } finally {
    await pager?.close();
    if (!json && !far && !command.hidden && existsSync(home.notice)) {
      (await import("./console/notice.ts")).showNotice(home.notice, { seen: command.name === "status" });
    }
  }
}

async function paged(isWanted: boolean, print: () => Promise<number>): Promise<number> {
  const pager = await openPager(isWanted);
  try {
    return await print();
  } finally {
    await pager?.close();
  }
}

/** Loaded only for a terminal: scripts and agents never page. */
async function openPager(isWanted: boolean): Promise<Pager | undefined> {
  return isWanted && process.stdout.isTTY ? (await import("./console/pager.ts")).openPager() : undefined;
}

async function internal(name: string): Promise<Commands[string] | undefined> {
  return name.startsWith("__") ? (await import("./internal.ts")).findInternal(name) : undefined;
}

/** Works before the command line is parsed, or if it is invalid. Arguments after `--` belong to the program. */
function asksForJson(argv: string[]): boolean {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).includes("--json");
}
