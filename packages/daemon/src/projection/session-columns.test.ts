import { expect, test } from "vitest";
import { ATTRIBUTE_COLUMNS, attributesIn, columnValues } from "./session-columns.ts";

test("an attribute of a damaged file is stored so that the table can still be read", () => {
  const spec = {
    name: "fix",
    kind: "terminal",
    agent: "demo",
    role: null,
    objective: null,
    host: "tmux",
    cwd: "/",
    command: ["demo"],
  } as const;
  const damaged = { ...spec, command: [...spec.command], budget: "3 turns", restart: null, report: true };
  const values = columnValues(damaged as unknown as Parameters<typeof columnValues>[0]);
  const row = Object.fromEntries(ATTRIBUTE_COLUMNS.map((name, i) => [name, values[i]]));
  expect(attributesIn(row)).toMatchObject({ name: "fix", command: ["demo"], budget: "3 turns", restart: "never", report: true });
});
