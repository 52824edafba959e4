/** Runs a verb on several sessions at once, each on its own. Every failure is shown, and the first decides the exit code. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import { printError } from "../console/print-error.ts";

export async function actOnEach<R>(
  sessions: readonly Session[],
  options: { json: boolean; act(session: Session): Promise<R>; line(result: R): string; toJson(result: R): unknown },
): Promise<number> {
  const outcomes = await Promise.allSettled(sessions.map(options.act));
  const results = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  if (options.json) process.stdout.write(`${JSON.stringify(results.flatMap(options.toJson))}\n`);
  else for (const result of results) process.stdout.write(`${options.line(result)}\n`);
  let code = 0;
  for (const outcome of outcomes) {
    if (outcome.status === "fulfilled") continue;
    const exit = printError(HoldfastError.from(outcome.reason), options);
    code ||= exit;
  }
  return code;
}
