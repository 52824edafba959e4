/** npm start: from a fresh clone to an agent that waits for an approval, then the commands to try next. The session keeps running. */
import { ensureAskingDemo } from "./demo.mjs";
import { holdfast, typed } from "./holdfast.mjs";
import { say } from "./root.mjs";
import { ensureBuilt } from "./setup.mjs";

try {
  await ensureBuilt();
  holdfast(["up"], { stdout: "inherit" });
  const { name, what } = ensureAskingDemo();
  console.log(`${what}\n`);
  holdfast(["ls"], { stdout: "inherit" });
  console.log(`\n${nextCommands(name)}`);
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}

function nextCommands(name) {
  const rows = [
    ["approvals", "list permission requests"],
    [`approvals allow ${name}`, "allow the request of the demo agent"],
    [`last ${name}`, "print its answer"],
    [`attach ${name}`, "see it and type to it; Ctrl+\\ leaves it running"],
    [`send ${name} 'tool shell pwd'`, "send a prompt; this one asks for permission again"],
    [`stop ${name}`, "stop it"],
  ];
  const commands = rows.map(([command]) => `${typed()} ${command}`);
  const width = Math.max(...commands.map((command) => command.length));
  return ["Try next:", ...rows.map(([, what], i) => `  ${commands[i].padEnd(width)}   ${what}`)].join("\n");
}
