/** The remote end of a request over ssh: connects standard input and output to the daemon's socket, after one line with the version. */
import { connect } from "node:net";
import { VERSION } from "@holdfast/contract/version";
import type { Command } from "../command.ts";
import { ended, fateOfDaemon } from "../connection/connect.ts";

export const command: Command = {
  name: "__wire",
  summary: "for holdfast -H",
  usage: "[--again]",
  flags: { again: { summary: "for who has been served before: a daemon that somebody has ended is not started" } },
  hidden: true,
  examples: [["holdfast __wire", "speaks to the daemon"]],
  async run(context) {
    if (context.flags.has("again") && (await fateOfDaemon(context.home)) === "ended") throw ended();
    // Starts the daemon, or replaces an older one.
    await context.client.call("status", {});
    const socket = connect(context.home.daemonSocket);
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    process.stdout.write(`holdfast ${VERSION}\n`);
    process.stdin.pipe(socket).pipe(process.stdout);
    // When either end closes, the other has nothing left to do.
    await new Promise((resolve) => {
      socket.once("close", resolve);
      process.stdin.once("close", resolve);
    });
    socket.destroy();
    process.stdin.destroy();
    return 0;
  },
};
