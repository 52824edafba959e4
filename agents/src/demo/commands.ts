import type { Composer } from "./composer.ts";
import type { Hooks } from "./hooks.ts";
import { askPermission } from "./permission.ts";
import type { Screen } from "./screen.ts";
import { pause } from "./turn.ts";

export type Room = {
  screen: Screen;
  composer: Composer;
  hooks: Hooks;
  exit(code: number): void;
  loop(): Promise<void>;
};

type Command = { usage: string; does: string; run(room: Room, argument: string): void | Promise<void> };

const COMMANDS: Command[] = [
  { usage: "/help", does: "this list", run: ({ screen }) => help(screen) },
  { usage: "/exit [CODE]", does: "end with that code", run: ({ exit }, code) => exit(Number.parseInt(code, 10) || 0) },
  { usage: "/crash", does: "fail with an error and code 1", run: crash },
  { usage: "/ask", does: "ask for permission and wait", run: ask },
  { usage: "/loop", does: "work turn after turn until Esc", run: ({ loop }) => loop() },
  { usage: "/flood N", does: "print N numbered lines", run: ({ screen, composer }, count) => flood(screen, composer, Number(count)) },
  { usage: "/sleep S", does: "do nothing for S seconds", run: (room, seconds) => rest(room, Number(seconds)) },
  {
    usage: "/env NAME",
    does: "print an environment variable",
    run: ({ screen }, name) => screen.print(process.env[name] ?? `${name} is not set`),
  },
  { usage: "/size", does: "print columns×rows, now and on every resize", run: ({ screen }) => screen.reportSize() },
  { usage: "/title TEXT", does: "set the terminal's title", run: ({ screen }, text) => screen.title(text) },
  { usage: "/alt", does: "use the alternate screen for a second", run: alternate },
];

export async function runCommand(room: Room, line: string): Promise<void> {
  const [name = "", ...words] = line.split(" ");
  const command = COMMANDS.find(({ usage }) => usage.split(" ")[0] === name);
  if (command) await command.run(room, words.join(" "));
  else room.screen.print(`Unknown command ${name}. /help lists them.`);
}

function help(screen: Screen): void {
  for (const { usage, does } of COMMANDS) screen.print(`  ${usage.padEnd(14)}${does}`);
}

function crash({ screen, exit }: Room): void {
  screen.print("Error: the demo agent crashed because it was told to");
  exit(1);
}

/** Only asks; nothing is run. */
async function ask({ screen, composer, hooks }: Room): Promise<void> {
  const { behavior } = await askPermission({ composer, hooks }, "touch x");
  const said = behavior === "allow" ? "● Run touch x" : "Denied: touch x";
  screen.print(said);
  await hooks.tell("Stop", { last_assistant_message: said });
}

function flood(screen: Screen, composer: Composer, count: number): Promise<void> {
  return composer.interruptible((signal) => screen.flood(count || 0, signal));
}

async function rest({ screen, composer }: Room, seconds: number): Promise<void> {
  screen.status("Resting… (esc to interrupt)");
  await composer.interruptible((signal) => pause((seconds || 0) * 1000, signal));
  screen.clearStatus();
}

async function alternate({ screen, composer }: Room): Promise<void> {
  screen.enterAlternate();
  screen.print("The alternate screen. It is gone in a second.");
  await composer.interruptible((signal) => pause(1000, signal));
  screen.leaveAlternate();
}
