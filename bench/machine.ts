/** The machine of a result: facts that affect the numbers, and nothing that identifies its owner. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import os from "node:os";

export interface Machine {
  cpu: string;
  cores: number;
  memoryGb: number;
  kernel: string;
  node: string;
  tmux: string;
  dtach: string | null;
  /** The nice value of the run; below 0 if it had priority over other work. */
  nice: number;
}

export function describeMachine(): Machine {
  return {
    cpu: os.cpus()[0]?.model.trim() ?? "unknown",
    cores: os.availableParallelism(),
    memoryGb: Math.round(os.totalmem() / 2 ** 30),
    kernel: `${os.type()} ${os.release()}`,
    node: process.versions.node,
    tmux: firstLine("tmux", "-V").replace(/^tmux /, ""),
    dtach: /version (\S+)/.exec(firstLine("dtach", "--version"))?.[1] ?? null,
    nice: os.getPriority(),
  };
}

/** The average number of processes that wanted a core during the last minute. */
export function load(): number {
  return Number(readFileSync("/proc/loadavg", "utf8").split(" ")[0]);
}

function firstLine(program: string, flag: string): string {
  return spawnSync(program, [flag], { encoding: "utf8" }).stdout?.split("\n")[0] ?? "";
}
