import { allProcesses, type ProcessInfo, signalProcess } from "@holdfast/platform";
import { eventually, type TestHome } from "./home.ts";

/** Kills everything in the home at the same moment, as a power cut does: no process sees another one end. */
export async function pullThePlug(home: TestHome): Promise<void> {
  await home.daemonPid();
  for (const signal of ["SIGSTOP", "SIGKILL"] as const) for (const { pid, start } of all(home)) signalProcess(pid, start, signal);
  await eventually(() => all(home).length === 0);
}

/** Includes the first processes of panes: they overwrite the environment by which the others are found. */
function all(home: TestHome): ProcessInfo[] {
  const own = home.processes();
  const table = allProcesses();
  const kin = new Set(own.flatMap(({ pid, parent }) => [pid, parent]));
  const reapers = [...table.values()].filter(
    ({ pid, parent, name, zombie }) => name === "holdfast-reaper" && !zombie && (kin.has(pid) || kin.has(parent)),
  );
  return [...new Map([...own, ...reapers].map((each) => [each.pid, each])).values()];
}
