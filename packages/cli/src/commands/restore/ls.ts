import type { Command } from "../../command.ts";
import { color } from "../../text/color.ts";
import { columns } from "../../text/columns.ts";
import { formatDuration } from "../../text/duration.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "restore ls",
  summary: "list what was lost, and when",
  usage: "",
  examples: [["holdfast restore ls", "list what was lost, and when"]],
  async run(context) {
    const reply = await context.client.call("listGenerations", {});
    if (context.json) {
      process.stdout.write(`${JSON.stringify(reply)}\n`);
      return 0;
    }
    const { generations, due } = reply;
    if (generations.length === 0) process.stdout.write("No session was ever lost.\n");
    else {
      const missing = new Set(due.map(({ id }) => id));
      const rows = generations.map(({ number, at, why, sessions }) => [
        String(number),
        `${formatDuration(Math.max(0, Date.now() - Date.parse(at)))} ago`,
        why === "reboot" ? "the machine restarted" : "their keeper vanished",
        sessions.map(({ id, name }) => plain(name) + (missing.has(id) ? color("yellow", "*") : "")).join(", "),
      ]);
      process.stdout.write(`${columns(["N", "WHEN", "WHY", "SESSIONS"], rows)}\n`);
      if (due.length > 0)
        process.stdout.write(`* not restored: ${due.map(({ name }) => plain(name)).join(", ")}; restore them: holdfast restore\n`);
    }
    return 0;
  },
};
