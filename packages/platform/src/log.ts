let listening = false;

/**
 * The daemon's log: one line per fact, for people. It goes to standard error, which the launcher redirects to daemon.log. A line that cannot be
 * written (a full disk) is lost: it cannot be reported, and must not end the process.
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
