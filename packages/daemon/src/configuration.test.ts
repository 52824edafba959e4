import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfiguration } from "./configuration.ts";

function reading(text: string | undefined, where: "XDG_CONFIG_HOME" | "HOME" = "XDG_CONFIG_HOME") {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const base = join(directory.path, where === "HOME" ? ".config" : "", "holdfast");
  mkdirSync(base, { recursive: true });
  if (text !== undefined) writeFileSync(join(base, "config.toml"), text);
  return readConfiguration({ [where]: directory.path });
}

test("without a file everything is as by default", () => {
  expect(reading(undefined).detachKey).toBe("C-\\");
  expect(reading("").detachKey).toBe("C-\\");
  expect(reading('unknown_key = "of a later version"').detachKey).toBe("C-\\");
});

test.each(["HOME", "XDG_CONFIG_HOME"] as const)("the file below %s is read", (where) => {
  expect(reading('detach_key = "F12"', where).detachKey).toBe("F12");
});

test.each(["C-a", "M-d", "C-]", "F1", "F12"])("%s detaches", (key) => {
  expect(reading(`detach_key = ${JSON.stringify(key)}`).detachKey).toBe(key);
});

test.each(['"a"', '""', '"C-"', '"C-ab"', '"F13"', '"F0"', `"C-'"`, '"C-a; kill-server"', '"C-\\n"', "5", "true", "[]", '"Enter"'])(
  "detach_key = %s is refused, with the file's name",
  (value) => {
    expect(() => reading(`detach_key = ${value}`)).toThrow(
      expect.objectContaining({ code: "usage", message: expect.stringContaining("config.toml") }),
    );
  },
);

test("a file that is no TOML is refused, with its name", () => {
  expect(() => reading("detach_key = ")).toThrow(
    expect.objectContaining({ code: "usage", message: expect.stringContaining("config.toml") }),
  );
});
