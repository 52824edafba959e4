import { signalProcess } from "@holdfast/platform";
import { eventually, type TestHome } from "./home.ts";

/** As a machine that goes down: everything of the home, at once, so that nothing of it sees another end. */
export async function pullThePlug(home: TestHome): Promise<void> {
  await home.daemonPid();
  for (const signal of ["SIGSTOP", "SIGKILL"] as const) for (const { pid, start } of home.processes()) signalProcess(pid, start, signal);
  await eventually(() => home.processes().length === 0);
}
