/**
 * A remote session or conversation on this terminal. ssh owns the terminal, and this process only waits for it. When the connection breaks, the
 * terminal is reset and input typed meanwhile is discarded: an Enter meant for a dead screen must not answer an agent's question. The same
 * session is attached again as soon as the machine can be reached.
 */
import { spawnSync } from "node:child_process";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import { LEAVE } from "../attach/holder-attach.ts";
import { parseCommandLine } from "../line/parse.ts";
import { plain } from "../text/plain.ts";
import { askFar } from "./ask.ts";
import type { Machine } from "./machine.ts";
import { pauseAfter } from "./pause.ts";
import { findSsh } from "./ssh.ts";
import { sshArguments } from "./ssh-arguments.ts";
import { isNeverConnected, SSH_FAILED, sshFailure } from "./ssh-failure.ts";
import { asExitCode, captureSsh, superviseSsh } from "./supervise.ts";

/** After a connection that held this long, the next break counts as the first. */
const HELD_MS = 10_000;

/** While ssh does not own the terminal, Ctrl+C is a signal. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function attachFar(machine: Machine, given: readonly string[]): Promise<number> {
  const argv = given[0] === "next" ? await asAttach(machine, given) : given;
  return comingBack(machine, { argv, startsPrograms: false, again: async () => argv });
}

/** A conversation begun without a name cannot be found again after a break; it keeps running. */
export function talkFar(machine: Machine, argv: readonly string[]): Promise<number> {
  return comingBack(machine, { argv, startsPrograms: true, again: () => sameConversation(machine, argv) });
}

interface Coming {
  argv: readonly string[];
  startsPrograms: boolean;
  /** The command line that reattaches after a break. */
  again(): Promise<readonly string[]>;
}

async function comingBack(machine: Machine, coming: Coming): Promise<number> {
  const terminal = spawnSync("stty", ["-g"], { stdio: ["inherit", "pipe", "ignore"], encoding: "utf8" }).stdout.trim();
  const giveUp = new AbortController();
  const onSignal = () => giveUp.abort();
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    return await attachAgainAndAgain(machine, { ...coming, terminal, giveUp });
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

async function attachAgainAndAgain(
  machine: Machine,
  { argv: first, startsPrograms, again, terminal, giveUp }: Coming & { terminal: string; giveUp: AbortController },
): Promise<number> {
  let argv = first;
  const mark = `${process.pid}-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  let wasAttached = false;
  for (let mishaps = 0; ; mishaps++) {
    const ssh = findSsh(machine);
    const began = performance.now();
    const env = { HOLDFAST_ATTACHMENT: mark, ...(wasAttached ? { HOLDFAST_REATTACH: "1" } : {}) };
    const end = await superviseSsh(ssh, sshArguments(ssh, machine, { argv, startsPrograms, terminal: true, env }));
    if (end.code !== SSH_FAILED) {
      if (end.signal !== null) putRight(terminal);
      return asExitCode(end);
    }
    if (isNeverConnected(end.said)) {
      const why = sshFailure(machine, end.said);
      // Once access is refused, retrying is useless.
      if (!wasAttached || why.code === "machine_refused") throw why;
    }
    wasAttached = true;
    putRight(terminal);
    if (performance.now() - began > HELD_MS) mishaps = 0;
    process.stderr.write(
      `holdfast: lost the connection to ${machine.name}; the session keeps running there. Reconnecting; Enter tries now, Ctrl+C gives up\n`,
    );
    if (!(await reachAgain(machine, { mishaps, giveUp }))) throw givenUp(machine, argv);
    process.stderr.write(`holdfast: reconnected to ${machine.name}\n`);
    argv = await again();
  }
}

/** Attaches by id: after a break, `next` could choose another session. */
async function asAttach(machine: Machine, [, ...args]: readonly string[]): Promise<string[]> {
  const session = (await askFar(machine, ["next", "--json", ...args])) as Session;
  process.stdout.write(`${plain(session.name)} is ${session.status}\n`);
  return ["attach", session.id, ...args.filter((word) => word === "-r" || word === "--read-only")];
}

async function sameConversation(machine: Machine, [, ...args]: readonly string[]): Promise<string[]> {
  const { command } = await import("../commands/chat.ts");
  const { flags, args: words } = parseCommandLine(command, args);
  const ref = flags.text("resume") ?? flags.text("session") ?? words[0];
  try {
    const { id } = (await askFar(machine, ["show", "--json", ref ?? ""])) as Session;
    return ["chat", "--resume", id];
  } catch (error) {
    const { code } = HoldfastError.from(error);
    if (code !== "session_not_found" && code !== "usage") throw error;
    throw new HoldfastError("machine_lost", "cannot return to the conversation: it was started without a name", {
      hint: `it keeps running there: holdfast -H ${machine.name} ls, then holdfast -H ${machine.name} chat NAME`,
      cause: error,
    });
  }
}

/** Restores the terminal, including modes that the remote program switched on. */
function putRight(terminal: string): void {
  process.stdout.write(LEAVE);
  if (terminal !== "") spawnSync("stty", [terminal], { stdio: ["inherit", "ignore", "ignore"] });
}

/** False if the person gives up. */
async function reachAgain(machine: Machine, { mishaps, giveUp }: { mishaps: number; giveUp: AbortController }): Promise<boolean> {
  let tryNow = new AbortController();
  const onKeys = (keys: Buffer) => {
    if (keys.includes(3)) giveUp.abort();
    else if (keys.includes(13)) tryNow.abort();
  };
  const { stdin } = process;
  stdin.setRawMode(true);
  stdin.on("data", onKeys).resume();
  try {
    for (let tries = mishaps; ; tries++) {
      await pauseAfter(tries, AbortSignal.any([giveUp.signal, tryNow.signal]));
      if (giveUp.signal.aborted) return false;
      tryNow = new AbortController();
      const ssh = findSsh(machine);
      const end = await captureSsh(ssh, ["-n", "-T", "--", ssh.destination, "true"], { asks: false, signal: giveUp.signal });
      if (giveUp.signal.aborted) return false;
      // If a password is needed, the next attach asks for it on the terminal.
      if (end.code !== SSH_FAILED || sshFailure(machine, end.said).code === "machine_refused") return true;
    }
  } finally {
    stdin.off("data", onKeys).pause();
    stdin.setRawMode(false);
  }
}

function givenUp({ name }: Machine, argv: readonly string[]): HoldfastError {
  return new HoldfastError("machine_unreachable", `could not reconnect to ${name}`, {
    hint: `the session keeps running there; return: holdfast -H ${name} ${argv.join(" ")}`,
  });
}
