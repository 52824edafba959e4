/** Handles the next-session key on a tmux client. The tmux server runs it, and names the client that pressed the key. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";

export const command: Command = {
  name: "__next",
  summary: "for the key that goes to the next session",
  usage: "CLIENT PID RUN",
  arguments: "nothing",
  hidden: true,
  stops: true,
  examples: [["holdfast __next /dev/pts/1 4711 k3v7q2m4xa-1", "moves that terminal"]],
  async run(context) {
    const [client, pid, run] = context.args;
    if (client === undefined || pid === undefined || run === undefined)
      throw new HoldfastError("usage", "say which client pressed the key");
    await context.client.call("moveToNext", { params: { ref: run.replace(/-\d+$/, "") }, body: { client, pid: Number(pid) } });
    return 0;
  },
};
