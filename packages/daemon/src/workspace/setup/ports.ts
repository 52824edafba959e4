/** Assigns each workspace a range of TCP ports, so that two servers of one project can run side by side. */
import { createServer } from "node:net";
import { KeyedMutex } from "@holdfast/platform";

/** Below the kernel's range of ephemeral ports. */
const FIRST = 21_000;
const END = 32_000;

export interface PortRange {
  portBase: number;
  ports: number;
}

/** Assigns ranges. Concurrent requests must see each other's ranges, though neither is recorded yet. */
export class PortRanges {
  readonly #recorded: () => readonly PortRange[];
  readonly #held = new Set<PortRange>();
  readonly #mutex = new KeyedMutex();

  /** `recorded`: the ranges of all existing workspaces. */
  constructor(recorded: () => readonly PortRange[]) {
    this.#recorded = recorded;
  }

  /** Reserves a range until it is disposed; by then it is recorded. `own`: the previous range, reused if it is free. */
  hold(ports: number, own?: PortRange): Promise<PortRange & Disposable> {
    return this.#mutex.run("", async () => {
      const taken = [...this.#recorded(), ...this.#held];
      const range = own && !taken.some((each) => overlaps(each, own)) ? own : await freeRange(ports, taken);
      const held = { portBase: range.portBase, ports: range.ports };
      this.#held.add(held);
      return { ...held, [Symbol.dispose]: () => void this.#held.delete(held) };
    });
  }
}

function overlaps(one: PortRange, other: PortRange): boolean {
  return one.portBase < other.portBase + other.ports && other.portBase < one.portBase + one.ports;
}

/** Returns the first range that no other workspace has and no program listens in. */
async function freeRange(ports: number, taken: readonly PortRange[]): Promise<PortRange> {
  for (let base = FIRST; base + ports <= END; ) {
    const overlap = taken.find((range) => overlaps(range, { portBase: base, ports }));
    if (overlap) base = Math.max(base + 1, overlap.portBase + overlap.ports);
    else {
      const busy = await firstBusy(base, ports);
      if (busy === undefined) return { portBase: base, ports };
      base = busy + 1;
    }
  }
  // Every range is taken: sharing one is better than none. No note is added, because no clash is certain.
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
