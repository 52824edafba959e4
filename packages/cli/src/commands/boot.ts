import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import { writeFileAtomic } from "@holdfast/platform/files";
import { findProgram } from "@holdfast/platform/program";
import { bootFile } from "../boot/file.ts";
import type { Command, Context } from "../command.ts";
import { refuseSession } from "../connection/refuse-session.ts";

export const command: Command = {
  name: "boot",
  summary: "start the daemon at boot",
  section: "Administration",
  usage: "[status | install | uninstall]",
  description: `Installs a systemd user unit, or a launchd agent on macOS, that runs holdfast up. With restore = "auto" in config.toml, sessions are restored then. On Linux, a user's services start at boot only with lingering enabled; the command prints how.`,
  arguments: "boot-verbs",
  flags: {},
  examples: [
    ["holdfast boot install", "start the daemon at the next boot"],
    ["holdfast boot uninstall", "undo that"],
    ["holdfast boot", "show the state"],
  ],
  async run(context) {
    const [verb = "status", ...more] = context.args;
    if (verb !== "status") refuseSession(context, "change what starts at boot");
    if (more.length === 0 && verb === "install") return install(context);
    if (more.length === 0 && verb === "uninstall") return uninstall(context);
    if (more.length === 0 && verb === "status") return status(context);
    throw new HoldfastError("usage", "expected status, install or uninstall", { hint: "see: holdfast boot --help" });
  },
};

const UNIT = "holdfast.service";

/** Variables that locate the home, the configuration and the programs. */
const VARIABLES = ["PATH", "HOLDFAST_HOME", "HOLDFAST_NODE", "XDG_STATE_HOME", "XDG_CONFIG_HOME"];

function place(): { file: string; kind: "systemd" | "launchd" } {
  if (process.platform === "darwin") return { file: join(homedir(), "Library/LaunchAgents/dev.holdfast.plist"), kind: "launchd" };
  const configuration = process.env.XDG_CONFIG_HOME || join(homedir(), ".config");
  return { file: join(configuration, "systemd/user", UNIT), kind: "systemd" };
}

function install(context: Context): number {
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
}

function uninstall(context: Context): number {
  const { file, kind } = place();
  const wasThere = existsSync(file);
  if (wasThere) runs(kind === "systemd" ? ["systemctl", "--user", "disable", UNIT] : ["launchctl", "unload", "-w", file]);
  rmSync(file, { force: true });
  if (context.json) process.stdout.write(`${JSON.stringify({ file, kind, installed: false, todo: [] })}\n`);
  else process.stdout.write(wasThere ? `Removed: ${file}. The daemon and the sessions keep running.\n` : "It was not installed.\n");
  return 0;
}

function status(context: Context): number {
  const { file, kind } = place();
  const installed = existsSync(file);
  const todo = installed ? lingering(kind) : [];
  if (context.json) process.stdout.write(`${JSON.stringify({ file, kind, installed, todo })}\n`);
  else if (!installed) process.stdout.write("The daemon does not start at boot. To change that: holdfast boot install\n");
  else if (todo.length === 0) process.stdout.write(`The daemon starts at boot: ${file}\n`);
  else process.stdout.write(`The daemon starts at your first login: ${file}\nTo start it at boot:\n  ${todo.join("\n  ")}\n`);
  return 0;
}

/** The command that lets a user's services start at boot, if it is still needed. */
function lingering(kind: "systemd" | "launchd"): string[] {
  const { username } = userInfo();
  return kind === "launchd" || existsSync(join("/var/lib/systemd/linger", username)) ? [] : [`loginctl enable-linger ${username}`];
}

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

/** False if the program is missing or fails, as in a container without a service manager. */
function runs([program = "", ...args]: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore", timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}
