/**
 * How ssh is called. What the user's own configuration decides stays decided; where it says nothing of sharing connections, later commands
 * share the first one's through a socket in a directory of ours, which closes by itself.
 */
import { spawnSync } from "node:child_process";
import { HoldfastError } from "@holdfast/contract/errors";
import { secureSshDirectory, shortHash } from "@holdfast/platform/home";
import { findProgram } from "@holdfast/platform/program";
import type { Machine } from "./machine.ts";

/** Ten minutes without a command: then the next one logs in again. */
const PERSIST = "10m";

/** A connection that has said nothing for so long, times three, is dead. Shorter breaks those of a network that only stutters. */
const ALIVE_SECONDS = "5";
const CONNECT_SECONDS = "10";

export interface Ssh {
  program: string;
  /** Without what to run, or how. */
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
    // For one command: nothing else that the user has ssh do with this machine.
    ...["ClearAllForwardings=yes", "PermitLocalCommand=no", "RemoteCommand=none", "LogLevel=ERROR"],
    ...["SendEnv=LANG", "SendEnv=LC_*"],
    ...(decided.get("connecttimeout") === "none" ? [`ConnectTimeout=${CONNECT_SECONDS}`] : []),
    ...(decided.get("serveraliveinterval") === "0" ? [`ServerAliveInterval=${ALIVE_SECONDS}`, "ServerAliveCountMax=3"] : []),
  ];
  const shared = (decided.get("controlpath") ?? "none") === "none" ? controlPath(destination, decided) : undefined;
  if (shared !== undefined) options.push("ControlMaster=auto", `ControlPath=${shared}`, `ControlPersist=${PERSIST}`);
  return { program, options: options.flatMap((each) => ["-o", each]), destination };
}

/** The configuration that holds for this machine, by ssh's own account. */
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

/** Another place, user or way there is another connection. */
function controlPath(destination: string, decided: ReadonlyMap<string, string>): string {
  const way = ["user", "hostname", "port", "hostkeyalias", "proxyjump", "proxycommand", "identityfile", "userknownhostsfile"];
  return `${secureSshDirectory()}/${shortHash([destination, ...way.map((key) => decided.get(key) ?? "")].join("\n"))}`;
}
