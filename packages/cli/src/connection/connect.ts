/**
 * A client that finds, starts or replaces the daemon as needed. It repeats a request that changes something only if no daemon can have acted on
 * it: the connection was refused, the daemon ended without reading it, or the daemon answered that it is too old. It also repeats a GET request
 * if the daemon died before it answered.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import { ROUTES } from "@holdfast/contract/routes";
import { type Home, secureHome, socketDirectoryIsSafe } from "@holdfast/platform/home";
import { actingIn } from "@holdfast/sdk/acting";
import { HoldfastClient } from "@holdfast/sdk/client";
import { refuseInsideRun } from "@holdfast/sdk/node/inside-a-run";
import type { Transport, WireRequest } from "@holdfast/sdk/transport";
import { unixTransport } from "@holdfast/sdk/transport/unix";
import { connectRunning, isNotListening, isRefused, remote, remoteUrl } from "./running.ts";

/** A daemon that another command just started may still be opening its database. */
const START_PATIENCE_MS = 20_000;

/** The started daemon, or a competing one, may have died before it was reached. */
const RELAUNCH_MS = 1000;

/** A request that kills the daemon every time must not be repeated forever. */
const MOST_CUT_OFFS = 3;

/** Longest gap between a daemon's end and the file of its replacement. */
const REPLACED_MS = 3000;

/** A GET request takes milliseconds; a daemon that takes this long is stuck or suspended. */
const LATE_MS = 5000;

interface Options {
  onlyReads?: boolean;
  stops?: boolean;
  /** Never reports a late answer: the request may be a long wait, and stderr may have no reader. */
  quiet?: boolean;
  /** Accepts a daemon of another version. */
  anyVersion?: boolean;
}

/** Connects to the daemon of the home, or to the one at HOLDFAST_URL, which is neither started nor replaced from here. */
export function connect(home: Home, options: Options = {}): HoldfastClient {
  const url = remoteUrl();
  return new HoldfastClient(url === undefined ? onDemand(home, options) : remote(url));
}

function isCutOff(error: unknown): boolean {
  return error instanceof HoldfastError && error.code === "daemon_unreachable";
}

/** True if the daemon ended without reading the request: the kernel reports a reset instead of an end of stream. */
function isUnread(error: unknown): boolean {
  const code = ((error as Error | undefined)?.cause as NodeJS.ErrnoException | undefined)?.code;
  return isCutOff(error) && (code === "EPIPE" || code === "ECONNRESET");
}

function onDemand(home: Home, options: Options): Transport {
  const acting = actingIn(process.env);
  let wire = unixTransport(home.daemonSocket, { ...acting, anyVersion: options.anyVersion });
  let served = false;
  let reader: Disposable | undefined;
  /** When no daemon can run normally: uses a reader for reads, or an unconfigured daemon for commands that stop sessions. */
  const doInstead = async (trouble: unknown, request: WireRequest) => {
    if (!(trouble instanceof HoldfastError)) throw trouble;
    const isUnconfigured = trouble.code === "usage";
    if (options.stops && isUnconfigured) {
      const { launchDaemon } = await import("@holdfast/platform/daemon-launch");
      await launchDaemon(home, join(import.meta.dirname, "daemon.mjs"), trouble);
      return void process.stderr.write(`holdfast: ${trouble.message}; continuing without the daemon\n`);
    }
    const isDoctor = request.path === ROUTES.examine.path;
    const isReadable = isUnconfigured || trouble.code === "disk_full" || trouble.code === "home_read_only";
    if (!options.onlyReads || (!isDoctor && !(isReadable && request.method === "GET"))) throw trouble;
    const { launchReader } = await import("@holdfast/platform/reader-launch");
    const launched = await launchReader(home, join(import.meta.dirname, "daemon.mjs"), trouble);
    reader = launched;
    wire.close();
    wire = unixTransport(launched.socket);
    // The doctor reports the problem itself.
    if (!isDoctor) process.stderr.write(`holdfast: ${trouble.message}; showing the last recorded state\n`);
  };
  const attempt = async <R extends { status: number }>(request: WireRequest, send: () => Promise<R>): Promise<R> => {
    let deadline: number | undefined;
    let launchAt = 0;
    let cutOffs = 0;
    // Checked on the first request only: help needs no token. The daemon checks the ancestor processes and has this version.
    if (!served) refuseInsideRun(home.path, acting, { above: false });
    for (;;) {
      try {
        if (reader || socketDirectoryIsSafe(home)) {
          const reply = await (request.method === "GET" && !options.quiet ? sayWhenLate(home, send()) : send());
          if (reply.status !== 426 || !(await replaceOlder(home))) {
            served = true;
            return reply;
          }
          // The connection belongs to the replaced daemon.
          wire.close();
          launchAt = 0;
          continue;
        }
      } catch (error) {
        const harmless = isUnread(error) || (request.method === "GET" && isCutOff(error));
        const again = isNotListening(error) || (harmless && ++cutOffs < MOST_CUT_OFFS);
        if (!again) throw error;
      }
      // Set on the first failure: the first use of this clock costs most of a millisecond of CPU, and few commands need it.
      deadline ??= performance.now() + START_PATIENCE_MS;
      if (performance.now() > deadline) throw unanswered(home);
      const fate = served && request.method === "GET" ? await fateOfDaemon(home) : "unknown";
      if (fate === "ended") throw ended();
      if (fate !== "there" && performance.now() > launchAt) {
        await launch(home, options).catch((error: unknown) => doInstead(error, request));
        launchAt = performance.now() + RELAUNCH_MS;
      } else await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return {
    request: (request) => attempt(request, () => wire.request(request)),
    stream: (request) => attempt(request, () => wire.stream(request)),
    close() {
      wire.close();
      reader?.[Symbol.dispose]();
    },
  };
}

/** Reports a late answer on stderr and keeps waiting: the daemon may only be busy. */
async function sayWhenLate<R>(home: Home, reply: Promise<R>): Promise<R> {
  const timer = setTimeout(() => {
    process.stderr.write(
      `holdfast: the daemon has not answered for ${LATE_MS / 1000} s; if it never does: holdfast down; its log is ${home.log}\n`,
    );
  }, LATE_MS);
  return reply.finally(() => clearTimeout(timer));
}

/**
 * A follower must not restart a daemon that a person stopped. A stopped daemon removes its file last. A killed daemon leaves the file behind; a
 * replaced one is followed by another.
 */
export async function fateOfDaemon(home: Home): Promise<"there" | "killed" | "ended"> {
  const { recordedDaemon } = await import("./end-daemon.ts");
  const deadline = performance.now() + REPLACED_MS;
  while (!existsSync(home.daemonFile)) {
    if (performance.now() > deadline) return "ended";
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return recordedDaemon(home) ? "there" : "killed";
}

async function launch(home: Home, options: { quiet?: boolean }): Promise<void> {
  secureHome(home);
  const { launchDaemon } = await import("@holdfast/platform/daemon-launch");
  const warnings = await launchDaemon(home, join(import.meta.dirname, "daemon.mjs"));
  if (!options.quiet) warn(warnings);
}

let warned = false;

/** Prints warnings once per command. */
export function warn(warnings: readonly string[]): void {
  if (warned) return;
  warned = true;
  for (const warning of warnings) process.stderr.write(`holdfast: ${warning}\n`);
}

/** Ends a daemon that is older than this CLI. False if the CLI is older. */
async function replaceOlder(home: Home): Promise<boolean> {
  using client = connectRunning(home);
  try {
    await client.call("status", {});
    return true;
  } catch (error) {
    const { code } = error as HoldfastError;
    if (code === "client_outdated") return false;
    // Another command is replacing the daemon now.
    if (code !== "daemon_outdated") return true;
  }
  const { endDaemon } = await import("./end-daemon.ts");
  try {
    await endDaemon(home, { why: "replaced" });
    return true;
  } catch (error) {
    if (!isRefused(error)) throw error;
    throw new HoldfastError(
      "daemon_outdated",
      `the daemon is older than this holdfast and cannot be replaced from here: ${(error as Error).message}`,
      {
        hint: "replace it from your own terminal: holdfast up",
      },
    );
  }
}

export function ended(): HoldfastError {
  return new HoldfastError("daemon_ended", "the daemon was stopped", { hint: "start it: holdfast up" });
}

function unanswered(home: Home): HoldfastError {
  return new HoldfastError("daemon_unreachable", "the daemon does not answer", {
    hint: `stop it: holdfast down; its log is ${home.log}`,
  });
}
