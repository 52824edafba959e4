import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { usableTerm } from "./terminal-type.ts";

function terminfo(...entries: string[]): string {
  const directory = mkdtempSync(join(tmpdir(), "hf-terminfo-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const entry of entries) {
    mkdirSync(join(directory, entry, ".."), { recursive: true });
    writeFileSync(join(directory, entry), "");
  }
  return directory;
}

test("a known terminal keeps its name, in either layout of the terminfo directories", () => {
  expect(usableTerm({ TERM: "xterm-kitty" }, [terminfo("x/xterm-kitty")])).toBe("xterm-kitty");
  expect(usableTerm({ TERM: "xterm-kitty" }, [terminfo("78/xterm-kitty")])).toBe("xterm-kitty");
  expect(usableTerm({ TERM: "foot", TERMINFO: terminfo("f/foot") }, [terminfo("x/xterm")])).toBe("foot");
  expect(usableTerm({ TERM: "foot", TERMINFO_DIRS: `/nowhere:${terminfo("f/foot")}` }, [])).toBe("foot");
  expect(usableTerm({ TERM: "foot", HOME: terminfo(".terminfo/f/foot") }, [])).toBe("foot");
});

test("an unknown or missing terminal name becomes a common one", () => {
  expect(usableTerm({ TERM: "xterm-ghostty" }, [terminfo("x/xterm")])).toBe("xterm-256color");
  expect(usableTerm({}, [terminfo("x/xterm")])).toBe("xterm-256color");
});

test("without any terminfo entries the name stays", () => {
  expect(usableTerm({ TERM: "xterm-ghostty" }, ["/nowhere"])).toBe("xterm-ghostty");
});
