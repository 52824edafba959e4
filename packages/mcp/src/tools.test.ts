import { expect, test } from "vitest";
import { inputSchema } from "./tool.ts";
import { TOOLS } from "./tools.ts";

test.each(TOOLS.map((tool) => [tool.name, tool] as const))("%s has an input schema that every client can read", (_, tool) => {
  const schema = inputSchema(tool);
  expect(schema.type).toBe("object");
  const text = JSON.stringify(schema);
  for (const strange of ["$schema", "$ref", 'anyOf":[]', "undefined"]) expect(text).not.toContain(strange);
});

test("tool names are unique", () => {
  expect(new Set(TOOLS.map(({ name }) => name)).size).toBe(TOOLS.length);
});
