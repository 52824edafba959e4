/** Makes programs redraw: one cheap process writes spinner frames to all their terminals. */
import { closeSync, constants, openSync, readlinkSync, writeSync } from "node:fs";

const FRAMES = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
const TICK_MS = 4;

/** Until disposed, each terminal gets `perSecond` frames, evenly out of phase. */
export function redraw(pids: readonly number[], perSecond: number): Disposable & { frames(): number } {
  const every = 1000 / perSecond;
  const began = performance.now();
  const terminals = pids.map((pid, index) => ({
    file: openSync(readlinkSync(`/proc/${pid}/fd/1`), constants.O_WRONLY | constants.O_NOCTTY),
    due: began + (every * index) / pids.length,
    frame: 0,
  }));
  let frames = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    for (const terminal of terminals) {
      if (terminal.due > now) continue;
      writeSync(terminal.file, frameOf(terminal.frame++, now - began));
      terminal.due += every;
      frames++;
    }
  }, TICK_MS);
  return {
    frames: () => frames,
    [Symbol.dispose]() {
      clearInterval(timer);
      for (const { file } of terminals) closeSync(file);
    },
  };
}

function frameOf(number: number, ms: number): string {
  return `\r\x1b[2K\x1b[36m${FRAMES[number % FRAMES.length]}\x1b[0m Thinking… (${Math.floor(ms / 1000)}s · esc to interrupt)`;
}
