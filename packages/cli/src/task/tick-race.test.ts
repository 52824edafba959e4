/** An editor that saves between the read of the file and the rename of the ticked copy. */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { scan } from "./scan.ts";
import { readTaskFile, tick } from "./tick.ts";

const editor = vi.hoisted(() => ({ save: [] as (() => void)[] }));

// The mode is set last, just before the rename.
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const chmodSync: typeof fs.chmodSync = (file, mode) => {
    fs.chmodSync(file, mode);
    editor.save.shift()?.();
  };
  return { ...fs, chmodSync };
});

function open(text: string) {
  const directory = mkdtempSync(path.join(tmpdir(), "holdfast-race-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, "tasks.md");
  writeFileSync(file, text);
  const all = scan(readTaskFile(file)).items;
  return { file, meant: { item: all[0] as (typeof all)[number], all } };
}

test("a file replaced meanwhile is not overwritten but ticked itself", async () => {
  const { file, meant } = open("- [ ] a\n");
  editor.save.push(() => {
    writeFileSync(`${file}.new`, "saved\n\n- [ ] a\n");
    renameSync(`${file}.new`, file);
  });
  expect(await tick(file, meant)).toBe("ticked");
  expect(readFileSync(file, "utf8")).toBe("saved\n\n- [x] a\n");
});

test("a file written meanwhile keeps the new content and is ticked", async () => {
  const { file, meant } = open("- [ ] a\n");
  editor.save.push(() => writeFileSync(file, "written\n\n- [ ] a\n"));
  await tick(file, meant);
  expect(readFileSync(file, "utf8")).toBe("written\n\n- [x] a\n");
});

test("a file that is saved again and again is reported as unusable", async () => {
  const { file, meant } = open("- [ ] a\n");
  let saves = 0;
  const save = () => {
    saves++;
    writeFileSync(file, `${saves}${"!".repeat(saves)}\n\n- [ ] a\n`);
  };
  editor.save.push(...Array.from({ length: 20 }, () => save));
  await expect(tick(file, meant)).rejects.toMatchObject({ code: "file_unusable", message: expect.stringContaining("keeps changing") });
  expect(readFileSync(file, "utf8")).toBe(`20${"!".repeat(20)}\n\n- [ ] a\n`);
});
