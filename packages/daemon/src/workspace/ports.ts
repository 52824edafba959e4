/** A range of TCP ports for each workspace, so that two servers of one project can run side by side. */
import { createServer } from "node:net";
import { InTurn } from "./in-turn.ts";

/** Below what the kernel gives to whoever asks for none in particular. */
const FIRST = 21_000;
const END = 32_000;

export interface PortRange {
  portBase: number;
  ports: number;
}

/** Gives them away. Whoever asks at the same moment as another must see what that one got, though nobody has recorded it yet. */
export class PortRanges {
  readonly #recorded: () => readonly PortRange[];
  readonly #held = new Set<PortRange>();
  readonly #turns = new InTurn();

  /** `recorded`: those of all workspaces that are there. */
  constructor(recorded: () => readonly PortRange[]) {
    this.#recorded = recorded;
  }

  /** Nobody else gets it until it is let go, by which time it is recorded. `own`: what the asker had before, if nobody has it now. */
  hold(ports: number, own?: PortRange): Promise<PortRange & Disposable> {
    return this.#turns.run("", async () => {
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

/** The first range that no other workspace has and in which nobody listens now. */
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
