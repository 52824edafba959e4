/** The far end of a request that comes through ssh: standard input and output are the daemon's socket, after one line that says who this is. */
import { connect } from "node:net";
import { VERSION } from "@holdfast/contract/version";
import type { Command } from "../command.ts";
import { ended, fateOfDaemon } from "../connect.ts";

export const command: Command = {
  name: "__wire",
  summary: "for holdfast -H",
  usage: "[--again]",
  flags: { again: { summary: "for who has been served before: a daemon that somebody has ended is not started" } },
  hidden: true,
  examples: [["holdfast __wire", "speaks to the daemon"]],
  async run(context) {
    if (context.flags.has("again") && (await fateOfDaemon(context.home)) === "ended") throw ended();
    // Starts it, or replaces one that is older.
    await context.client.call("status", {});
    const socket = connect(context.home.daemonSocket);
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    process.stdout.write(`holdfast ${VERSION}\n`);
    process.stdin.pipe(socket).pipe(process.stdout);
    // Either end may go, and what is left has nobody to speak to.
    await new Promise((resolve) => {
      socket.once("close", resolve);
      process.stdin.once("close", resolve);
    });
    socket.destroy();
    process.stdin.destroy();
    return 0;
  },
};
