/**
 * A program that has ended may leave a process that holds its terminal or its pipes open, so no end of file ever comes. The program's own
 * last output is already in the kernel then: it has been read once nothing has arrived for a while, or after a bounded time if the other
 * process keeps writing.
 */
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";

/** Longer than the kernel takes to deliver written output, however busy the machine is. */
const CALM_MS = 150;
/** A process that writes all the time must not keep a run from ending. */
const MOST_MS = 2000;

/** `read`: bytes read so far. Resolves early once `isOver`. */
export async function calm(source: { read(): number; isOver(): boolean }): Promise<void> {
  const deadline = performance.now() + MOST_MS;
  for (let before = -1; before !== source.read() && !source.isOver() && performance.now() < deadline; ) {
    before = source.read();
    await delay(CALM_MS);
    // This process may itself have been suspended: a full turn of its event loop reads all pending output.
    await turn();
    await turn();
  }
}
