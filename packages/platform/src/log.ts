/** The daemon's log: one line per fact, for people. Goes to standard error, which the launcher has pointed at daemon.log. */
export function log(message: string): void {
  process.stderr.write(`${new Date().toISOString()} ${message}\n`);
}

export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : ` (because: ${describe(error.cause)})`;
  return `${error.stack ?? error.message}${cause}`;
}
