import { allProcesses, type ProcessInfo, signalProcess } from "@holdfast/platform";
import { eventually, type TestHome } from "./home.ts";

/** As a machine that goes down: everything of the home, at once, so that nothing of it sees another end. */
export async function pullThePlug(home: TestHome): Promise<void> {
  await home.daemonPid();
  for (const signal of ["SIGSTOP", "SIGKILL"] as const) for (const { pid, start } of all(home)) signalProcess(pid, start, signal);
  await eventually(() => all(home).length === 0);
}

/** Also the first processes of panes: they have a title of their own, in the place of the environment by which the others are known. */
function all(home: TestHome): ProcessInfo[] {
  const own = home.processes();
  const table = allProcesses();
  const kin = new Set(own.flatMap(({ pid, parent }) => [pid, parent]));
  const reapers = [...table.values()].filter(
    ({ pid, parent, name, zombie }) => name === "holdfast-reaper" && !zombie && (kin.has(pid) || kin.has(parent)),
  );
  return [...new Map([...own, ...reapers].map((each) => [each.pid, each])).values()];
}
