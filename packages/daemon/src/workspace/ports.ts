/** A range of TCP ports for each workspace, so that two servers of one project can run side by side. */
import { createServer } from "node:net";

/** Below what the kernel gives to whoever asks for none in particular. */
const FIRST = 21_000;
const END = 32_000;

export interface PortRange {
  portBase: number;
  ports: number;
}

/** The first range that no other workspace has and in which nobody listens now. */
export async function freeRange(ports: number, taken: readonly PortRange[]): Promise<PortRange> {
  for (let base = FIRST; base + ports <= END; ) {
    const overlap = taken.find((range) => range.portBase < base + ports && base < range.portBase + range.ports);
    if (overlap) base = Math.max(base + 1, overlap.portBase + overlap.ports);
    else {
      const busy = await firstBusy(base, ports);
      if (busy === undefined) return { portBase: base, ports };
      base = busy + 1;
    }
  }
  // All given away, or in use: better shared than none. The note of the workspace says nothing, as nothing is known to clash.
  return { portBase: FIRST, ports };
}

async function firstBusy(base: number, ports: number): Promise<number | undefined> {
  const free = await Promise.all(Array.from({ length: ports }, (_, index) => isFree(base + index)));
  const index = free.indexOf(false);
  return index < 0 ? undefined : base + index;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}
