import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { MINIMUM_NODE } from "@holdfast/contract";
import { ROOT } from "./home.ts";

/** Puts `node` into `directory`: the machine's Node if it is old, else this one, which then reports an old version. */
export function oldNode(directory: string): { path: string; version: string } {
  mkdirSync(directory);
  const place = path.join(directory, "node");
  for (const each of (process.env.PATH ?? "").split(":")) {
    const found = path.join(each, "node");
    if (!existsSync(found) || realpathSync(found).startsWith(path.join(ROOT, ".node"))) continue;
    const version = execFileSync(found, ["-p", "process.versions.node"], { encoding: "utf8" }).trim();
    if (Number.parseInt(version, 10) >= MINIMUM_NODE) continue;
    symlinkSync(found, place);
    return { path: place, version };
  }
  const pretend = path.join(directory, "pretend.cjs");
  writeFileSync(pretend, `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });`);
  writeFileSync(place, `#!/bin/sh\nexec '${process.execPath}' -r '${pretend}' "$@"\n`, { mode: 0o755 });
  return { path: place, version: "20.20.2" };
}
