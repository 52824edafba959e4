// The demo agent: a scripted terminal program that looks and behaves like a coding agent, for demos and tests. It needs no key, no network and only
// Node. Type at its composer as at an agent's; /help lists commands for specific behaviour.

import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Room, runCommand } from "./demo/commands.ts";
import { Composer } from "./demo/composer.ts";
import { Hooks } from "./demo/hooks.ts";
import { Memory } from "./demo/memory.ts";
import { Screen } from "./demo/screen.ts";
import { askTrust } from "./demo/trust.ts";
import { playTurn } from "./demo/turn.ts";
import { parseUsage, usedBy } from "./demo/usage.ts";

const USAGE = `Usage: demo [--work] [--loop] [--fast] [--name NAME] [PROMPT]

  --work   begin a turn at once        --fast        turns without delays
  --loop   work turn after turn        --name NAME   say who this is

  --session-id ID       name the conversation      --resume ID   go on with it, as far as it is kept
  --fork-session        with --resume: with a copy of it, which --session-id names
  --hook COMMAND        tell this command what is done, as JSON on its input
  --ask-hook COMMAND    ask this one for permission
  --ask-trust           ask first whether the folder may be trusted
  --log FILE            write each prompt there, as a line of JSON
  --usage USAGE         what each turn uses: input=1000,output=200,cacheRead=0,cacheWrite=0,model=gpt-5,cost=0.01

  --acp                 no screen: speak the Agent Client Protocol on standard input and output; the prompt \`help\` tells its words
  --late-history        with --acp: what a loaded conversation was comes after the answer, as from some agents

A prompt may say what is done, as for the scripted model: say TEXT; wait 3s; until FILE; talk 3s; tool shell COMMAND; ask QUESTION | A | B; error 500`;

const CHORES = ["look around in this repository", "fix the login bug", "write the missing tests", "update the changelog"];

const screen = new Screen();
const composer = new Composer(screen);
const { values: options, positionals } = readArguments();
const forks = options["fork-session"] && options.resume !== undefined;
const conversation = (forks ? undefined : options.resume) ?? options["session-id"] ?? randomUUID();
const hooks = new Hooks({ command: options.hook, askCommand: options["ask-hook"], conversation });
const memory = new Memory(conversation);
const usage = readUsage();
let turns = 0;

await main();

async function main(): Promise<void> {
  if (options.help) {
    console.log(USAGE);
    return;
  }
  if (options.acp) {
    const { serveAcp } = await import("./acp/serve.ts");
    const { stdin: input, stdout: output } = process;
    return serveAcp({ input, output, exit: (code) => process.exit(code), fast: options.fast, lateHistory: options["late-history"] });
  }
  const original = forks ? new Memory(options.resume ?? "") : memory;
  if (options.resume !== undefined && !original.exists) {
    console.log(`No conversation found with session id ${options.resume}`);
    process.exitCode = 1;
    return;
  }
  if (forks) memory.copy(original);
  if (options["ask-trust"] && !(await askTrust(process.cwd()))) process.exit(1);
  screen.open();
  composer.open();
  leaveOnSignals();
  screen.print(`${options.name ? `${options.name} · ` : ""}demo agent — a scripted stand-in for a coding agent`);
  for (const { prompt, said } of options.resume === undefined ? [] : memory.turns()) {
    turns++;
    screen.print(`> ${prompt}`);
    if (said !== null) screen.print(said);
  }
  await hooks.tell("SessionStart", { source: options.resume === undefined ? "startup" : "resume" });
  const first = positionals.join(" ") || (options.work ? chore() : "");
  if (first) await turnUnasked(first);
  if (options.loop) await loop();
  for (let text = await composer.next(); text !== undefined; text = await composer.next()) await handle(text);
  exit(0);
}

async function handle(text: string): Promise<void> {
  if (text.startsWith("/")) await runCommand({ screen, composer, hooks, exit, loop } satisfies Room, text);
  else await turn(text);
}

/** False if the turn was interrupted. */
function turn(prompt: string): Promise<boolean> {
  turns++;
  memory.add({ prompt });
  if (options.log !== undefined) appendFileSync(options.log, `${JSON.stringify({ at: new Date().toISOString(), conversation, prompt })}\n`);
  return composer.interruptible(async (signal) => {
    await hooks.tell("UserPromptSubmit", { prompt });
    const asked = (text: string) => memory.add({ used: usedBy({ prompt, said: text }, usage) });
    const { said, failed } = await playTurn({ screen, composer, hooks, prompt, number: turns, fast: options.fast, signal, asked });
    // Before the end of the turn is reported, as in most agents; also for an interrupted turn.
    asked(said ?? "");
    // Esc fires no hook, as in real agents.
    if (said !== undefined) {
      memory.add({ said });
      await hooks.tell("Stop", { last_assistant_message: said });
    }
    if (failed !== undefined) await hooks.tell("StopFailure", { error: failed });
    return !signal.aborted;
  });
}

/** Shows a prompt that nobody typed like a typed one. */
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

function readUsage() {
  const given = options.usage === undefined ? {} : parseUsage(options.usage);
  if (given) return given;
  console.error(`demo: --usage makes no sense: ${options.usage}\n\n${USAGE}`);
  process.exit(2);
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
        hook: { type: "string" },
        "ask-hook": { type: "string" },
        "session-id": { type: "string" },
        resume: { type: "string" },
        "fork-session": { type: "boolean", default: false },
        "ask-trust": { type: "boolean", default: false },
        log: { type: "string" },
        acp: { type: "boolean", default: false },
        "late-history": { type: "boolean", default: false },
        usage: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    console.error(`demo: ${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(2);
  }
}
