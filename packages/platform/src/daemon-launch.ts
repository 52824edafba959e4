/**
 * Starts a daemon that outlives its starter: its own process session, cwd `/`, standard streams to the log, and a fixed minimal environment, so that
 * nothing of the first caller (secrets, a virtualenv, a proxy) reaches the daemon or its keepers. If several start at once, the lock lets one live.
 * The others end with EXIT_ALREADY_RUNNING, and their starters connect to the winner.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, openSync, renameSync, statSync } from "node:fs";
import { type ErrorBody, HoldfastError, knownCause } from "@holdfast/contract/errors";
import type { Home } from "./home.ts";
import { STANDARD_PATH } from "./program.ts";
import { inScope } from "./scope.ts";

export const EXIT_ALREADY_RUNNING = 75;

const PASSED_ON = ["HOME", "USER", "LOGNAME", "TZ", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS"];

export function minimalEnvironment(home: Home, env: Readonly<Record<string, string | undefined>> = process.env): Record<string, string> {
  const minimal: Record<string, string> = {
    PATH: STANDARD_PATH,
    LANG: process.platform === "darwin" ? "en_US.UTF-8" : "C.UTF-8",
    SHELL: "/bin/sh",
    HOLDFAST_HOME: home.path,
  };
  for (const name of PASSED_ON) {
    const value = env[name];
    if (value !== undefined) minimal[name] = value;
  }
  return minimal;
}

/**
 * Resolves when a daemon answers on the home's socket: the new one, or one that was faster. Returns the new daemon's warnings about its
 * configuration. `without`: the error in the configuration; the daemon then runs without it and ends with this process.
 */
export async function launchDaemon(home: Home, program: string, without?: HoldfastError): Promise<string[]> {
  const log = openLog(home);
  try {
    const mode = without ? ["--without-configuration", JSON.stringify(without.toBody())] : [];
    const [command = "", ...args] = inScope({ unit: `holdfast-daemon-${randomUUID()}` }, [process.execPath, program, ...mode]);
    const child = spawn(command, args, {
      cwd: "/",
      detached: true,
      env: minimalEnvironment(home),
      // A daemon that must end with this process sees the end of its input, even if this process is killed.
      stdio: [without ? "pipe" : "ignore", log, log, "pipe"],
    });
    (child.stdin as { unref?(): void } | null)?.unref?.();
    return await ready(child, home);
  } finally {
    closeSync(log);
  }
}

/** A longer log is renamed to `.1` at a start, because nothing else ever deletes it. */
const LONGEST_LOG = 8 << 20;

function openLog(home: Home): number {
  try {
    if ((statSync(home.log, { throwIfNoEntry: false })?.size ?? 0) > LONGEST_LOG) renameSync(home.log, `${home.log}.1`);
    return openSync(home.log, "a", 0o600);
  } catch (cause) {
    throw (
      knownCause(cause) ??
      new HoldfastError("home_unusable", `cannot write to the home ${home.path}: ${(cause as Error).message}`, {
        hint: "set HOLDFAST_HOME to a directory you can write to",
        cause,
      })
    );
  }
}

/** On descriptor 3 the daemon writes lines of warnings, then `ready` when it listens. If it cannot start, it writes the error as JSON and ends. */
function ready(child: ReturnType<typeof spawn>, home: Home): Promise<string[]> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.on("error", (cause) =>
      reject(knownCause(cause) ?? new HoldfastError("daemon_unreachable", `cannot start the daemon: ${cause.message}`, { cause })),
    );
    const pipe = pipeOf(child);
    if (!pipe) return;
    pipe.on("data", (chunk) => {
      said += String(chunk);
      if (!/^(?:warning .*\n)*ready\n$/.test(said)) return;
      child.unref();
      pipe.destroy();
      resolve([...said.matchAll(/^warning (.*)$/gm)].map(([, text = ""]) => JSON.parse(text) as string));
    });
    // `exit` may arrive before the last output has been read.
    child.on("close", (code, signal) => {
      if (code === EXIT_ALREADY_RUNNING) return resolve([]);
      reject(notStarted(said, { how: `it ended with ${signal ?? `code ${code}`}`, hint: `see ${home.log}` }));
    });
  });
}

/** The pipe on descriptor 3. A program that could not be started for lack of descriptors has no pipes; its `error` event reports that. */
export function pipeOf(child: ChildProcess): (NodeJS.ReadableStream & { destroy(): void }) | undefined {
  const [, , , pipe] = (child.stdio as ChildProcess["stdio"] | undefined) ?? [];
  return (pipe ?? undefined) as unknown as (NodeJS.ReadableStream & { destroy(): void }) | undefined;
}

/** The daemon's last output is an error body as on the wire. */
function notStarted(said: string, otherwise: { how: string; hint: string }): HoldfastError {
  const { code, message, hint } = lastWords(said);
  const error = HoldfastError.fromBody({ code: code === "internal" ? "daemon_unreachable" : (code ?? "daemon_unreachable") });
  return new HoldfastError(error.code, `the daemon did not start: ${message ?? otherwise.how}`, { hint: hint ?? otherwise.hint });
}

function lastWords(said: string): Partial<ErrorBody> {
  try {
    return JSON.parse(said) as ErrorBody;
  } catch {
    return said.trim() === "" ? {} : { message: said.trim() };
  }
}
