/**
 * Ends every process of a run, even processes that try to escape (members.ts defines which processes belong to a run). The processes are stopped
 * (SIGSTOP) during the scan, so that a program cannot fork faster than we scan. Then they get SIGTERM, a grace period and SIGKILL. Each pid is
 * checked against its start time before each signal.
 */
import { setTimeout as delay } from "node:timers/promises";
import { isSameProcess, type ProcessInfo, signalProcess } from "@holdfast/platform";
import { membersOf, type RunProcesses, scanTogether } from "./members.ts";

export interface Ended {
  pid: number;
  name: string;
  /** The last signal sent to the process. */
  signal: "SIGTERM" | "SIGKILL";
}

const FREEZE_ROUNDS = 40;
const KILL_ROUNDS = 200;

export async function endProcesses(options: {
  root: { pid: number; start: string };
  marker: string;
  treeOnly?: boolean | undefined;
  isMember?: RunProcesses["isMember"];
  keepers: number[];
  graceMs: number;
  /** Also sends SIGHUP to the program, for programs that ignore SIGTERM but end with their terminal. */
  hangUp?: boolean;
}): Promise<{
  ended: Ended[];
  left: ProcessInfo[];
}> {
  const known = new Map<number, ProcessInfo>();
  const scan = async () => membersOf(await scanTogether(options.keepers), { ...options, known });

  // Never stop the root of an adopted run: its shell would take the terminal back. The agent could then not restore the terminal on SIGTERM; it
  // would stay stopped and have to be killed.
  const isJobOfAShell = ({ pid }: ProcessInfo) => options.treeOnly === true && pid === options.root.pid;
  for (let round = 0; round < FREEZE_ROUNDS; round++) {
    const fresh = (await scan()).filter((info) => known.get(info.pid)?.start !== info.start);
    if (fresh.length === 0) break;
    for (const info of fresh) {
      known.set(info.pid, info);
      if (!isJobOfAShell(info)) signalProcess(info.pid, info.start, "SIGSTOP");
    }
  }
  const ended = new Map<number, Ended>();
  const all = (signal: NodeJS.Signals) => {
    for (const info of known.values()) signalProcess(info.pid, info.start, signal);
  };
  for (const info of known.values()) ended.set(info.pid, { pid: info.pid, name: info.name, signal: "SIGTERM" });
  all("SIGTERM");
  if (options.hangUp) signalProcess(options.root.pid, options.root.start, "SIGHUP");
  all("SIGCONT");

  await gone(known, options.graceMs);
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const left = await scan();
    if (left.length === 0) return { ended: [...ended.values()], left: [] };
    for (const info of left) {
      known.set(info.pid, info);
      ended.set(info.pid, { pid: info.pid, name: info.name, signal: "SIGKILL" });
      signalProcess(info.pid, info.start, "SIGKILL");
    }
    await delay(round < 10 ? 5 : 25);
  }
  return { ended: [...ended.values()], left: await scan() };
}

/** Resolves when all processes are gone or the time is up. */
async function gone(known: Map<number, ProcessInfo>, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs;
  let pause = 2;
  while ([...known.values()].some((info) => isSameProcess(info.pid, info.start)) && performance.now() < deadline) {
    await delay(Math.min(pause, Math.max(1, deadline - performance.now())));
    pause = Math.min(pause * 1.5, 50);
  }
}
