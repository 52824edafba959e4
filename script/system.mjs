import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { say } from "./root.mjs";

const MANAGERS = [
  ["apt-get", "apt-get install -y"],
  ["dnf", "dnf install -y"],
  ["pacman", "pacman -S --noconfirm"],
  ["zypper", "zypper install -y"],
  ["apk", "apk add"],
];

/** Directories of daemons, which are not on every user's PATH. */
const ALSO = ["/usr/sbin", "/usr/local/sbin", "/sbin"];

/**
 * Provides a program of the system: installs it with apt-get when it is missing and we are root, otherwise prints the command. A
 * program that needs it reports its absence later.
 */
export function ensureProgram(program, packageName = program) {
  if (onPath(program)) return;
  if (process.getuid?.() === 0 && onPath("apt-get") && installByApt(program, packageName)) return;
  say(`${program} is missing; install it with: ${installCommand(packageName)}`);
}

/** The command that installs a package on this machine. */
export function installCommand(packageName) {
  if (process.platform === "darwin") return `brew install ${packageName}`;
  const known = MANAGERS.find(([manager]) => onPath(manager))?.[1];
  if (known === undefined) return `the package manager of this system (package: ${packageName})`;
  return `${process.getuid?.() === 0 ? "" : "sudo "}${known} ${packageName}`;
}

function installByApt(program, packageName) {
  say(`${program} is missing: installing it with apt-get`);
  return apt("update", "-qq") && apt("install", "-y", "-qq", "--no-install-recommends", packageName) && onPath(program);
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
  return [...folders, ...ALSO].some((folder) => isExecutable(path.join(folder, program)));
}

function isExecutable(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
