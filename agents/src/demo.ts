// The demo agent: a scripted terminal program that looks and behaves like a coding agent, for demos and tests. It needs no key, no
// network and nothing but Node. Type at its composer like at an agent's; /help lists the commands that make it do a certain thing.

import { parseArgs } from "node:util";
import { type Room, runCommand } from "./demo/commands.ts";
import { Composer } from "./demo/composer.ts";
import { Screen } from "./demo/screen.ts";
import { playTurn } from "./demo/turn.ts";

const USAGE = `Usage: demo [--work] [--loop] [--fast] [--name NAME] [PROMPT]

  --work   begin a turn at once        --fast        turns without delays
  --loop   work turn after turn        --name NAME   say who this is`;

const CHORES = ["look around in this repository", "fix the login bug", "write the missing tests", "update the changelog"];

const screen = new Screen();
const composer = new Composer(screen);
const { values: options, positionals } = readArguments();
let turns = 0;

await main();

async function main(): Promise<void> {
  if (options.help) {
    console.log(USAGE);
    return;
  }
  screen.open();
  composer.open();
  leaveOnSignals();
  screen.print(`${options.name ? `${options.name} · ` : ""}demo agent — a scripted stand-in for a coding agent`);
  const first = positionals.join(" ") || (options.work ? chore() : "");
  if (first) await turnUnasked(first);
  if (options.loop) await loop();
  for (let text = await composer.next(); text !== undefined; text = await composer.next()) await handle(text);
  exit(0);
}

async function handle(text: string): Promise<void> {
  if (text.startsWith("/")) await runCommand({ screen, composer, exit, loop } satisfies Room, text);
  else await turn(text);
}

/** False when it was interrupted. */
function turn(prompt: string): Promise<boolean> {
  turns++;
  return composer.interruptible(async (signal) => {
    await playTurn(screen, { prompt, number: turns, fast: options.fast, signal });
    return !signal.aborted;
  });
}

/** A prompt nobody typed is shown like one that was. */
function turnUnasked(prompt: string): Promise<boolean> {
  screen.print(`> ${prompt}`);
  return turn(prompt);
}

async function loop(): Promise<void> {
  while (await turnUnasked(chore())) {
    while (composer.hasNext) await handle((await composer.next()) ?? "");
  }
}

function chore(): string {
  return CHORES[turns % CHORES.length] ?? "";
}

function exit(code: number): never {
  screen.close();
  composer.close();
  process.exit(code);
}

function leaveOnSignals(): void {
  process.on("SIGTERM", () => exit(143));
  process.on("SIGHUP", () => exit(129));
  process.on("SIGINT", () => composer.cancel());
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        work: { type: "boolean", default: false },
        loop: { type: "boolean", default: false },
        fast: { type: "boolean", default: false },
        name: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    console.error(`demo: ${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(2);
  }
}
