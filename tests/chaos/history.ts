/** Random histories, each in its own home that starts with a session on each host. */
import { HOSTS } from "@holdfast/contract";
import fc from "fast-check";
import { Expected } from "./expected.ts";
import { start, steps } from "./steps.ts";
import { World } from "./world.ts";

export function histories(options: { longest: number; faults: Map<string, number>; onStep?(): void }): fc.IAsyncProperty<unknown> {
  return fc.asyncProperty(fc.commands(steps(), { maxCommands: options.longest, size: "max" }), async (commands) => {
    await using world = new World();
    const setUp = async () => {
      const expected = new Expected(options.faults);
      for (const host of HOSTS) await start(expected, world, host);
      return { model: expected, real: world };
    };
    await fc.asyncModelRun(setUp, commands);
    options.onStep?.();
  });
}
