import { existsSync, rmSync } from "node:fs";
import { place, runs, UNIT } from "../../boot/service.ts";
import type { Command } from "../../command.ts";
import { refuseSession } from "../../connection/refuse-session.ts";

export const command: Command = {
  name: "boot uninstall",
  summary: "do not start the daemon at boot any more",
  usage: "",
  examples: [["holdfast boot uninstall", "undo holdfast boot install"]],
  async run(context) {
    refuseSession(context, "change what starts at boot");
    const { file, kind } = place();
    const wasThere = existsSync(file);
    if (wasThere) runs(kind === "systemd" ? ["systemctl", "--user", "disable", UNIT] : ["launchctl", "unload", "-w", file]);
    rmSync(file, { force: true });
    if (context.json) process.stdout.write(`${JSON.stringify({ file, kind, installed: false, todo: [] })}\n`);
    else process.stdout.write(wasThere ? `Removed: ${file}. The daemon and the sessions keep running.\n` : "It was not installed.\n");
    return 0;
  },
};
