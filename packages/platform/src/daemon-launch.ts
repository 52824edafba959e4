/**
 * Starts a daemon that outlives its starter: own process session, cwd `/`, standard streams on the log, and a fixed minimal
 * environment, so that nothing of the first caller (secrets, a virtualenv, a proxy) is in it or in the keepers it starts.
 * However many start one at once, the lock lets one live; the others end with EXIT_ALREADY_RUNNING and their starters
 * connect to the winner.
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
 * Resolves when a daemon answers on the home's socket: the one started here, or the one that was faster. What the one started here has
 * to say about its configuration comes back. `without`: what is wrong with the configuration; then it does without, as long as we live.
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
      // Of one that lives as long as we do, the end of its input tells that, also when we are killed.
      stdio: [without ? "pipe" : "ignore", log, log, "pipe"],
    });
    (child.stdin as { unref?(): void } | null)?.unref?.();
    return await ready(child, home);
  } finally {
    closeSync(log);
  }
}

/** A log beyond this makes room for a new one at a start, and is kept as `.1`: nobody else would ever delete it. */
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

/** On descriptor 3 the daemon writes lines of warnings and `ready` when it listens, or why it cannot (an error's body as JSON) before it ends. */
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
    // Not `exit`: that may come before the last words have been read.
    child.on("close", (code, signal) => {
      if (code === EXIT_ALREADY_RUNNING) return resolve([]);
      reject(notStarted(said, { how: `it ended with ${signal ?? `code ${code}`}`, hint: `see ${home.log}` }));
    });
  });
}

/** The pipe on descriptor 3. A program that could not be started for want of descriptors has no pipes at all: its `error` says so. */
export function pipeOf(child: ChildProcess): (NodeJS.ReadableStream & { destroy(): void }) | undefined {
  const [, , , pipe] = (child.stdio as ChildProcess["stdio"] | undefined) ?? [];
  return (pipe ?? undefined) as unknown as (NodeJS.ReadableStream & { destroy(): void }) | undefined;
}

/** Its last words are an error as it would be told over the wire, if it could still speak. */
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
