import { existsSync } from "node:fs";
import { lingering, place } from "../../boot/service.ts";
import type { Command } from "../../command.ts";

export const command: Command = {
  name: "boot status",
  summary: "show whether the daemon starts at boot",
  usage: "",
  examples: [["holdfast boot status", "show the state, and what is left to do"]],
  async run(context) {
    const { file, kind } = place();
    const installed = existsSync(file);
    const todo = installed ? lingering(kind) : [];
    if (context.json) process.stdout.write(`${JSON.stringify({ file, kind, installed, todo })}\n`);
    else if (!installed) process.stdout.write("The daemon does not start at boot. To change that: holdfast boot install\n");
    else if (todo.length === 0) process.stdout.write(`The daemon starts at boot: ${file}\n`);
    else process.stdout.write(`The daemon starts at your first login: ${file}\nTo start it at boot:\n  ${todo.join("\n  ")}\n`);
    return 0;
  },
};
