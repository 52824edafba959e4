import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { say } from "./root.mjs";

const MANAGERS = [
  ["apt-get", "apt-get install -y tmux"],
  ["dnf", "dnf install -y tmux"],
  ["pacman", "pacman -S --noconfirm tmux"],
  ["zypper", "zypper install -y tmux"],
  ["apk", "apk add tmux"],
];

/** Installs tmux by apt-get when it is missing and we are root; elsewhere says how, and goes on: only sessions on tmux need it. */
export function ensureTmux() {
  if (onPath("tmux")) return;
  if (process.getuid?.() === 0 && onPath("apt-get") && installByApt()) return;
  say(`tmux is missing; install it with: ${installCommand()}`);
}

/** The command that installs tmux on this machine, as a person would type it. */
export function installCommand() {
  if (process.platform === "darwin") return "brew install tmux";
  const known = MANAGERS.find(([manager]) => onPath(manager))?.[1];
  if (known === undefined) return "the package manager of this system (package: tmux)";
  return process.getuid?.() === 0 ? known : `sudo ${known}`;
}

function installByApt() {
  say("tmux is missing: installing it with apt-get");
  return apt("update", "-qq") && apt("install", "-y", "-qq", "--no-install-recommends", "tmux") && onPath("tmux");
}

function apt(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const done = spawnSync("apt-get", args, { env, encoding: "utf8" });
  if (done.status === 0) return true;
  process.stderr.write(`${done.stdout ?? ""}${done.stderr ?? ""}`);
  say(`apt-get ${args[0]} failed with ${done.status ?? done.signal ?? done.error?.message}`);
  return false;
}

function onPath(program) {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => folder !== "");
  return folders.some((folder) => isExecutable(path.join(folder, program)));
}

function isExecutable(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
