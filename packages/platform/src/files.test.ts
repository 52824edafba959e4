import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isMissing, readJsonFile, readOrdinaryFile, writeFileAtomic } from "./files.ts";

test("new content replaces the old and is readable only by its owner", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const file = join(directory.path, "file");
  writeFileSync(file, "old", { mode: 0o644 });
  writeFileAtomic(file, "new");
  expect(readFileSync(file, "utf8")).toBe("new");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileAtomic(file, new Uint8Array([0, 255]), 0o700);
  expect([...readFileSync(file)]).toEqual([0, 255]);
  expect(statSync(file).mode & 0o777).toBe(0o700);
  expect(readdirSync(directory.path)).toEqual(["file"]);
});

test("a write that fails leaves the old content and no temporary file", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const taken = join(directory.path, "taken");
  mkdirSync(join(taken, "full"), { recursive: true });
  // Renaming onto a directory fails after the temporary file was written.
  expect(() => writeFileAtomic(taken, "x")).toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
  expect(readdirSync(directory.path)).toEqual(["taken"]);
  expect(() => writeFileAtomic(join(directory.path, "nowhere", "file"), "x")).toThrow("ENOENT");
});

test("a link in the place of the temporary file is not followed", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const [file, victim] = [join(directory.path, "file"), join(directory.path, "victim")];
  writeFileSync(victim, "untouched");
  writeFileAtomic(file, "first");
  for (let next = 1; next <= 50; next++) symlinkSync(victim, `${file}.${process.pid}.${next}.tmp`);
  writeFileAtomic(file, "second");
  expect([readFileSync(file, "utf8"), readFileSync(victim, "utf8")]).toEqual(["second", "untouched"]);
});

test("a file that is missing or not JSON is undefined", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const file = join(directory.path, "file");
  expect(readJsonFile(file)).toBeUndefined();
  for (const text of ["", "{", "\0\0"]) {
    writeFileSync(file, text);
    expect(readJsonFile(file)).toBeUndefined();
  }
  writeFileSync(file, '{"a":[1]}\n');
  expect(readJsonFile(file)).toEqual({ a: [1] });
});

test("only ENOENT means missing", () => {
  expect([Object.assign(new Error(), { code: "ENOENT" }), new Error("ENOENT"), undefined, null, { code: "EACCES" }].map(isMissing)).toEqual(
    [true, false, false, false, false],
  );
});

test("pipes, devices, directories and huge files are refused without waiting (mend 4)", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const place = (name: string) => join(directory.path, name);
  execFileSync("mkfifo", [place("pipe")]);
  mkdirSync(place("directory"));
  writeFileSync(place("large"), "");
  truncateSync(place("large"), 5_000_000_000);
  writeFileSync(place("small"), '"é"');
  for (const path of [place("pipe"), "/dev/zero", place("directory"), place("large")]) expect(() => readOrdinaryFile(path), path).toThrow();
  expect(() => readOrdinaryFile(place("small"), 3)).toThrow("more than");
  expect(readOrdinaryFile(place("small"), 4)).toBe('"é"');
  expect(readJsonFile(place("pipe"))).toBeUndefined();
  expect(readJsonFile(place("small"))).toBe("é");
});
