let listening = false;

/**
 * The daemon's log: one line per fact, for people. Goes to standard error, which the launcher has pointed at daemon.log. A line that cannot
 * be written (a full disk) is lost, and that is all: nobody could be told, and the process must not end for it.
 */
export function log(message: string): void {
  if (!listening) process.stderr.on("error", () => {});
  listening = true;
  process.stderr.write(`${new Date().toISOString()} ${message}\n`);
}

export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : ` (because: ${describe(error.cause)})`;
  return `${error.stack ?? error.message}${cause}`;
}
