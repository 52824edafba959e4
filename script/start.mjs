/** npm start: from a fresh clone to an agent that works in a session, then what to try next. The session stays. */
import { ensureDemo } from "./demo.mjs";
import { holdfast, typed } from "./holdfast.mjs";
import { say } from "./root.mjs";
import { ensureBuilt } from "./setup.mjs";

try {
  await ensureBuilt();
  holdfast(["up"], { stdout: "inherit" });
  const { name, what } = ensureDemo();
  console.log(`${what}\n`);
  holdfast(["ls"], { stdout: "inherit" });
  console.log(`\n${nextCommands(name)}`);
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}

function nextCommands(name) {
  const rows = [
    [`attach ${name}`, "see it and type to it; Ctrl+\\ detaches, and it goes on"],
    [`send ${name} 'tool shell ls'`, "say something to it: this makes it ask for leave"],
    ["ls", "what each does, and what it waits for"],
    [`approvals allow ${name}`, "give it leave; holdfast approvals lists what waits"],
    [`logs -f ${name}`, "follow what it says; Ctrl+C leaves"],
    [`stop ${name}`, "end it"],
  ];
  const commands = rows.map(([command]) => `${typed()} ${command}`);
  const width = Math.max(...commands.map((command) => command.length));
  return ["Try next:", ...rows.map(([, what], i) => `  ${commands[i].padEnd(width)}   ${what}`)].join("\n");
}
