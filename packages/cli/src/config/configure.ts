/** Runs the program that knows the configuration's schema: it is large, and no other command needs it. Needs no daemon. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ConfigurationProblem, ConfigureReply, ConfigureRequest } from "@holdfast/contract/configuration/configured";
import { type ErrorBody, HoldfastError } from "@holdfast/contract/errors";
import type { Context } from "../command.ts";
import { color } from "../text/color.ts";
import { shortPath } from "../text/fit.ts";
import { plain } from "../text/plain.ts";

type Asked = ConfigureRequest extends infer R ? (R extends { cwd: string } ? Omit<R, "cwd"> : never) : never;

const MOST_BYTES = 32 << 20;

export function configure(asked: Asked): ConfigureReply {
  const input = JSON.stringify({ ...asked, cwd: process.cwd() });
  const done = spawnSync(process.execPath, [join(import.meta.dirname, "configure.mjs")], {
    input,
    encoding: "utf8",
    maxBuffer: MOST_BYTES,
  });
  if (done.status !== 0) {
    throw new HoldfastError("internal", `the configuration cannot be read: ${done.error?.message ?? done.stderr.trim()}`);
  }
  const reply = JSON.parse(done.stdout) as ConfigureReply | { error: ErrorBody };
  if ("error" in reply) throw HoldfastError.fromBody(reply.error);
  return reply;
}

/** A value as TOML, on one line. */
export function inToml(value: unknown): string {
  if (value === null || value === undefined) return "not set";
  if (Array.isArray(value)) return `[${value.map(inToml).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, inside]) => `${/^[\w-]+$/.test(key) ? key : JSON.stringify(key)} = ${inToml(inside)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

export function problemLines({ file, line, column, key, level, what, fix }: ConfigurationProblem): string[] {
  const place = [shortPath(file), ...(line === null ? [] : [line]), ...(column === null ? [] : [column])].join(":");
  const shade = level === "problem" ? "red" : "yellow";
  return [
    `${color(shade, level === "problem" ? "✗" : "!")} ${place}: ${plain(key === null ? what : `${key} ${what}`)}`,
    `    ${color("dim", plain(fix))}`,
  ];
}

/** Printed after a change: the daemon reads its configuration only at its start. */
export function tellDaemon({ home }: Context): void {
  if (existsSync(home.daemonFile))
    process.stderr.write("The daemon reads it at its next start: holdfast down, then holdfast up. Sessions keep running.\n");
}
