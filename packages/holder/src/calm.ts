/**
 * A program that has ended may leave a process that holds its terminal or its pipes open, so no end of file ever comes. The program's own last
 * words are already with the kernel then: they have been read once nothing has come for a while, or, where the other process goes on to
 * write, after a bounded time.
 */
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";

/** Longer than the kernel takes to hand over what was written, however busy the machine is. */
const CALM_MS = 150;
/** A process that writes all the time must not keep a run from ending. */
const MOST_MS = 2000;

/** `read`: how much has been read so far. Resolves early once `isOver`. */
export async function calm(source: { read(): number; isOver(): boolean }): Promise<void> {
  const deadline = performance.now() + MOST_MS;
  for (let before = -1; before !== source.read() && !source.isOver() && performance.now() < deadline; ) {
    before = source.read();
    await delay(CALM_MS);
    // This process may itself have stood still: a whole turn of its loop reads all that waits.
    await turn();
    await turn();
  }
}
