import type { Command } from "../command.ts";

export const command: Command = {
  name: "up",
  summary: "start the daemon, if it does not run",
  usage: "",
  description: "Every command does this by itself when it needs to.",
  flags: {},
  examples: [["holdfast up", "says its pid and home"]],
  async run(context) {
    const status = await context.client.call("status", {});
    process.stdout.write(
      context.json ? `${JSON.stringify(status)}\n` : `The daemon runs: pid ${status.pid}, version ${status.version}, home ${status.home}\n`,
    );
    const { logoutEnds } = await import("@holdfast/platform");
    const { ends, what, remedy } = await logoutEnds();
    if (ends !== "nothing") process.stderr.write(`holdfast: ${what}, sessions with them; to keep them: ${remedy}\n`);
    return 0;
  },
};
