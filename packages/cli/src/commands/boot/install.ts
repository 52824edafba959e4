import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import { writeFileAtomic } from "@holdfast/platform/files";
import { findProgram } from "@holdfast/platform/program";
import { bootFile } from "../../boot/file.ts";
import { lingering, place, runs, UNIT } from "../../boot/service.ts";
import type { Command } from "../../command.ts";
import { refuseSession } from "../../connection/refuse-session.ts";

export const command: Command = {
  name: "boot install",
  summary: "start the daemon at the next boot",
  usage: "",
  examples: [["holdfast boot install", "write the unit, and print what is left to do"]],
  async run(context) {
    refuseSession(context, "change what starts at boot");
    const { file, kind } = place();
    const text = bootFile(kind, {
      program: ourselves(),
      env: Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]])),
    });
    const before = existsSync(file) ? readFileSync(file, "utf8") : undefined;
    mkdirSync(dirname(file), { recursive: true });
    if (before !== text) writeFileAtomic(file, text, 0o644);
    const steps =
      kind === "systemd"
        ? [
            ["systemctl", "--user", "daemon-reload"],
            ["systemctl", "--user", "enable", UNIT],
          ]
        : [["launchctl", "load", "-w", file]];
    const left = steps.filter((step) => !runs(step));
    const todo = [...left.map((step) => step.join(" ")), ...lingering(kind)];
    if (context.json) process.stdout.write(`${JSON.stringify({ file, kind, installed: true, todo })}\n`);
    else {
      process.stdout.write(`${before === text ? "Already installed" : "Written"}: ${file}\n`);
      if (todo.length > 0) process.stdout.write(`Run this yourself:\n${todo.map((line) => `  ${line}`).join("\n")}\n`);
      else process.stdout.write("The daemon starts at boot from now on.\n");
    }
    return 0;
  },
};

/** Variables that locate the home, the configuration and the programs. */
const VARIABLES = ["PATH", "HOLDFAST_HOME", "HOLDFAST_NODE", "XDG_STATE_HOME", "XDG_CONFIG_HOME"];

/** Uses the name on the PATH if it is this program, so that the unit follows upgrades; otherwise the program's real path. */
function ourselves(): string {
  const here = join(import.meta.dirname, "../bin/holdfast");
  const found = findProgram("holdfast", process.env.PATH, process.cwd());
  if (found && (!existsSync(here) || realpathSync(found) === realpathSync(here))) return resolve(found);
  if (existsSync(here)) return realpathSync(here);
  throw new HoldfastError("program_not_found", "holdfast is not on the PATH, so the unit cannot start it", {
    hint: "install holdfast, or add its directory to the PATH",
  });
}
