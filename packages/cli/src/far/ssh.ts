/**
 * Builds the ssh call. The user's configuration takes precedence. If it does not configure connection sharing, commands share one connection
 * through a socket in Holdfast's own directory, which closes after a while.
 */
import { spawnSync } from "node:child_process";
import { HoldfastError } from "@holdfast/contract/errors";
import { secureSshDirectory, shortHash } from "@holdfast/platform/home";
import { findProgram } from "@holdfast/platform/program";
import type { Machine } from "./machine.ts";

/** After ten minutes without a command, the next one logs in again. */
const PERSIST = "10m";

/** A connection that is silent for three times this long is dead. A shorter time would cut connections on an unstable network. */
const ALIVE_SECONDS = "5";
const CONNECT_SECONDS = "10";

export interface Ssh {
  program: string;
  /** Options without the destination and the command. */
  options: string[];
  destination: string;
}

export function findSsh({ destination }: Machine): Ssh {
  const program = findProgram("ssh", process.env.PATH, process.cwd());
  if (program === undefined) {
    throw new HoldfastError("program_not_found", "ssh is not on the PATH", { hint: "install an OpenSSH client" });
  }
  const decided = effective(program, destination);
  const options = [
    // Runs only this command; disables forwardings and other actions configured for the machine.
    ...["ClearAllForwardings=yes", "PermitLocalCommand=no", "RemoteCommand=none", "LogLevel=ERROR"],
    ...["SendEnv=LANG", "SendEnv=LC_*"],
    ...(decided.get("connecttimeout") === "none" ? [`ConnectTimeout=${CONNECT_SECONDS}`] : []),
    ...(decided.get("serveraliveinterval") === "0" ? [`ServerAliveInterval=${ALIVE_SECONDS}`, "ServerAliveCountMax=3"] : []),
  ];
  const shared = (decided.get("controlpath") ?? "none") === "none" ? controlPath(destination, decided) : undefined;
  if (shared !== undefined) options.push("ControlMaster=auto", `ControlPath=${shared}`, `ControlPersist=${PERSIST}`);
  return { program, options: options.flatMap((each) => ["-o", each]), destination };
}

/** The effective configuration for this machine, as ssh reports it. */
function effective(program: string, destination: string): Map<string, string> {
  const { status, stdout, stderr } = spawnSync(program, ["-T", "-G", "--", destination], { encoding: "utf8" });
  if (status !== 0) {
    throw new HoldfastError("usage", `ssh refused ${JSON.stringify(destination)}: ${stderr.trim().split("\n").at(-1)}`, {
      hint: "try it with ssh itself",
    });
  }
  const lines = stdout.trimEnd().split("\n");
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]));
}

/** A different address, user or route needs its own connection. */
function controlPath(destination: string, decided: ReadonlyMap<string, string>): string {
  const way = ["user", "hostname", "port", "hostkeyalias", "proxyjump", "proxycommand", "identityfile", "userknownhostsfile"];
  return `${secureSshDirectory()}/${shortHash([destination, ...way.map((key) => decided.get(key) ?? "")].join("\n"))}`;
}
