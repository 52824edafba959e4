import { HoldfastError } from "@holdfast/contract/errors";
import { hasEnded } from "@holdfast/contract/session/status";
import { attachIfAsked, checkAttachFlag } from "../attach/attach-after.ts";
import type { Command } from "../command.ts";
import { oneName } from "../session/select.ts";
import { printStarted } from "../session/start.ts";

export const command: Command = {
  name: "start",
  summary: "start a session that was created",
  section: "Start agents and commands",
  usage: "NAME [--attach]",
  description: "Starts the first run of a session made with holdfast create. To start a session that has ended, run holdfast resume.",
  flags: { attach: { summary: "attach to the session" } },
  arguments: "sessions",
  examples: [
    ["holdfast start review", "start the session that holdfast create --name review made"],
    ["holdfast start review --attach", "start a session and attach to it"],
  ],
  async run(context) {
    checkAttachFlag(context);
    const ref = oneName(context, "start NAME");
    const { id, name, status } = await context.client.call("getSession", { params: { ref } });
    if (status !== "created") {
      const ended = hasEnded(status);
      throw new HoldfastError(ended ? "session_ended" : "session_running", `${name} ${ended ? `has ended (${status})` : "is running"}`, {
        hint: ended ? `start it again: holdfast resume ${name}` : `attach to it: holdfast attach ${name}`,
      });
    }
    const {
      resumed: _,
      prompt: __,
      state: ___,
      lines: ____,
      ...session
    } = await context.client.call("resumeSession", { params: { ref: id }, body: {} });
    printStarted(session, context.json);
    return attachIfAsked(context, name);
  },
};
