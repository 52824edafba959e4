import { expect, test } from "vitest";
import { type PortRange, PortRanges } from "./ports.ts";

test("concurrent requests get different ports, and a range released without being recorded is reused", async () => {
  const recorded: PortRange[] = [{ portBase: 21_000, ports: 10 }];
  const ranges = new PortRanges(() => recorded);
  const held = await Promise.all([1, 2, 3].map(() => ranges.hold(10)));
  const ports = [...recorded, ...held].flatMap(({ portBase, ports }) => Array.from({ length: ports }, (_, index) => portBase + index));
  expect(new Set(ports).size).toBe(40);
  const [first] = held;
  if (!first) throw new Error("there are three");
  expect((await ranges.hold(10, first)).portBase).not.toBe(first.portBase);
  first[Symbol.dispose]();
  expect((await ranges.hold(10, first)).portBase).toBe(first.portBase);
});
