import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { directory } from "../../../test/test-client.ts";
import { inside, insideToWrite } from "./inside.ts";
import { TOOLS, toolFor, toolsNamed } from "./tools/index.ts";

const never = new AbortController().signal;

function place(files: Record<string, string> = {}): { path: string } & Disposable {
  const found = directory();
  const path = realpathSync(found.path);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(path, name, ".."), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return { path, [Symbol.dispose]: () => found[Symbol.dispose]() };
}

async function use(root: string, name: string, input: object, signal = never): Promise<string> {
  const tool = TOOLS.find((each) => each.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  const prepared = await tool.prepare(tool.input.parse(input), root);
  return (await prepared.run(signal, () => {})).text;
}

test("paths are confined to the directory, even through symbolic links", async () => {
  using outer = place({ "secret.txt": "s", "root/a/b.txt": "b" });
  const root = join(outer.path, "root");
  symlinkSync(outer.path, join(root, "up"));
  symlinkSync(join(outer.path, "not-there"), join(root, "dangling"));
  symlinkSync("a", join(root, "in"));
  symlinkSync("loop", join(root, "loop"));
  expect(await inside(root, "a/b.txt")).toBe(join(root, "a/b.txt"));
  expect(await inside(root, "in/new/file.txt")).toBe(join(root, "a/new/file.txt"));
  expect(await inside(root, root)).toBe(root);
  for (const path of ["..", "../root2", "/etc/passwd", "up/secret.txt", "up/new.txt", "a/../../secret.txt", "dangling", "dangling/x"])
    await expect(inside(root, path), path).rejects.toThrow(/outside the workspace|broken symbolic link/);
  await expect(inside(root, "loop")).rejects.toThrow("ELOOP");
  await expect(inside(root, "a/b.txt/c")).rejects.toThrow("ENOTDIR");
  await expect(insideToWrite(root, ".git/hooks/pre-commit")).rejects.toThrow("belongs to git");
  await expect(insideToWrite(root, ".")).rejects.toThrow("file name is missing");
  expect(await insideToWrite(root, ".gitignore")).toBe(join(root, ".gitignore"));
});

test("a text file is read in parts, and other files are refused", async () => {
  using at = place({
    "many.txt": Array.from({ length: 3000 }, (_, i) => `line ${i + 1}`).join("\n"),
    "empty.txt": "",
    bin: "a\0b",
    "long.txt": "x".repeat(100_000),
  });
  expect(await use(at.path, "read_file", { path: "many.txt" })).toMatch(
    /^line 1\n[\s\S]*line 2000\n\[The file continues at line 2001: read it with offset 2001\.\]$/,
  );
  expect(await use(at.path, "read_file", { path: "many.txt", offset: 2999 })).toBe("line 2999\nline 3000");
  expect(await use(at.path, "read_file", { path: "many.txt", offset: 5, limit: 1 })).toContain("line 5\n[The file continues at line 6");
  expect(await use(at.path, "read_file", { path: "many.txt", offset: 9999 })).toBe("[The file ends at line 3000.]");
  expect(await use(at.path, "read_file", { path: "empty.txt" })).toBe("[The file is empty.]");
  expect(await use(at.path, "read_file", { path: "bin" })).toBe("bin is not text: 3 bytes");
  expect((await use(at.path, "read_file", { path: "long.txt" })).length).toBeLessThan(50_000);
  execFileSync("mkfifo", [join(at.path, "pipe")]);
  await expect(use(at.path, "read_file", { path: "pipe" })).rejects.toThrow("pipe is not a file");
  await expect(use(at.path, "read_file", { path: "." })).rejects.toThrow("list_files");
  await expect(use(at.path, "read_file", { path: "none" })).rejects.toThrow("none does not exist");
});

test("list_files lists directories and finds files by name, only inside the workspace", async () => {
  using outer = place({ "out.ts": "", "root/a.ts": "", "root/src/b.ts": "", "root/node_modules/c.ts": "", "root/.git/d.ts": "" });
  const root = join(outer.path, "root");
  symlinkSync(outer.path, join(root, "up"));
  expect(await use(root, "list_files", {})).toBe(".git/\na.ts\nnode_modules/\nsrc/\nup");
  expect(await use(root, "list_files", { glob: "**/*.ts" })).toBe("a.ts\nsrc/b.ts");
  expect(await use(root, "list_files", { path: "src", glob: "../../*.ts" })).toBe("[nothing]");
  expect(await use(root, "list_files", { path: "src", glob: "*" })).toBe("src/b.ts");
  await expect(use(root, "list_files", { path: "a.ts" })).rejects.toThrow("read_file");
  await expect(use(root, "list_files", { path: "none" })).rejects.toThrow("none does not exist");
  for (let i = 0; i < 510; i++) writeFileSync(join(root, "src", `f${i}`), "");
  expect(await use(root, "list_files", { path: "src" })).toContain("more than 500");
  expect(await use(root, "list_files", { glob: "src/*" })).toContain("more than 500");
});

test("search_files searches the files that git does not ignore, or all files outside a repository", async () => {
  using at = place({ "a.txt": "needle one\n", "sub/b.txt": "x\nneedle two\n", ignored: "needle", bin: "needle\0" });
  expect((await use(at.path, "search_files", { pattern: "needle (one|two)" })).split("\n").sort()).toEqual(
    ["a.txt:1:needle one", "sub/b.txt:2:needle two"].map((line) => expect.stringContaining(line)),
  );
  expect(await use(at.path, "search_files", { pattern: "nothing like it" })).toBe("[no matches]");
  await expect(use(at.path, "search_files", { pattern: "(" })).rejects.toThrow("the search failed");
  await expect(use(at.path, "search_files", { pattern: "x", path: ".." })).rejects.toThrow("outside");
  execFileSync("git", ["init", "-q"], { cwd: at.path, env: { PATH: process.env.PATH, HOME: at.path, GIT_CONFIG_NOSYSTEM: "1" } });
  writeFileSync(join(at.path, ".gitignore"), "ignored\n");
  expect((await use(at.path, "search_files", { pattern: "needle" })).split("\n").sort()).toEqual([
    "a.txt:1:needle one",
    "sub/b.txt:2:needle two",
  ]);
  expect(await use(at.path, "search_files", { pattern: "needle", path: "sub" })).toBe("sub/b.txt:2:needle two");
  writeFileSync(join(at.path, "many"), "a line with a needle in it\n".repeat(5000));
  writeFileSync(join(at.path, "sub/wide"), `wide ${"x".repeat(1000)}\n`);
  expect(await use(at.path, "search_files", { pattern: "needle", path: "many" })).toMatch(
    /\[There are more matches: narrow the pattern or the path\.\]$/,
  );
  expect((await use(at.path, "search_files", { pattern: "wide" })).length).toBeLessThan(500);
});

test("files are written completely and keep their mode; a file that changed since it was read is not overwritten", async () => {
  using at = place({ "run.sh": "#!/bin/sh\necho one\necho one\n", bin: "\0" });
  chmodSync(join(at.path, "run.sh"), 0o775);
  expect(await use(at.path, "write_file", { path: "new/deep/a.txt", content: "a" })).toBe("new/deep/a.txt written");
  expect(readFileSync(join(at.path, "new/deep/a.txt"), "utf8")).toBe("a");
  expect(await use(at.path, "edit_file", { path: "run.sh", old: "#!/bin/sh", new: "#!/bin/bash" })).toBe("run.sh changed");
  expect(await use(at.path, "edit_file", { path: "run.sh", old: "one", new: "$& two", all: true })).toBe("run.sh changed");
  expect(readFileSync(join(at.path, "run.sh"), "utf8")).toBe("#!/bin/bash\necho $& two\necho $& two\n");
  expect(statSync(join(at.path, "run.sh")).mode & 0o777).toBe(0o775);
  await expect(use(at.path, "edit_file", { path: "run.sh", old: "two", new: "three" })).rejects.toThrow("2 times");
  await expect(use(at.path, "edit_file", { path: "run.sh", old: "four", new: "three" })).rejects.toThrow("does not contain that text");
  await expect(use(at.path, "edit_file", { path: "none", old: "a", new: "b" })).rejects.toThrow("create it with write_file");
  await expect(use(at.path, "write_file", { path: "bin", content: "x" })).rejects.toThrow("is not text");
  await expect(use(at.path, "write_file", { path: "new", content: "x" })).rejects.toThrow("new is not a file");
  await expect(use(at.path, "write_file", { path: `${"n".repeat(300)}`, content: "x" })).rejects.toThrow("ENAMETOOLONG");
  const tool = TOOLS.find(({ name }) => name === "write_file");
  const prepared = await tool?.prepare({ path: "run.sh", content: "mine" }, at.path);
  expect(prepared?.changes).toEqual([{ path: join(at.path, "run.sh"), old: expect.stringContaining("two"), new: "mine" }]);
  writeFileSync(join(at.path, "run.sh"), "yours");
  await expect(prepared?.run(never, () => {})).rejects.toThrow("has changed");
  expect(readFileSync(join(at.path, "run.sh"), "utf8")).toBe("yours");
});

test("a command runs in the directory, loses only the middle of a long output, and ends at its timeout", async () => {
  using at = place();
  expect(await use(at.path, "run_command", { command: "pwd; echo no >&2; exit 3" })).toMatch(
    new RegExp(`${at.path}[\\s\\S]*\\[exit code 3\\]$`),
  );
  const long = await use(at.path, "run_command", { command: "seq 1 100000" });
  expect(long).toMatch(/^1\n2\n[\s\S]*bytes are omitted here\.\][\s\S]*100000\n\[exit code 0\]$/);
  expect(long.length).toBeLessThan(41_000);
  expect(await use(at.path, "run_command", { command: "printf x; sleep 1000", timeout: 1 })).toBe("x\n[ended after 1 s]");
  expect(await use(at.path, "run_command", { command: "kill -9 $$" })).toBe("[ended by SIGKILL]");
  expect(await use(at.path, "run_command", { command: "cat" })).toBe("[exit code 0]");
  const stop = new AbortController();
  const running = use(at.path, "run_command", { command: "touch begun; sleep 1000" }, stop.signal);
  while (!existsSync(join(at.path, "begun"))) await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  expect(await running).toBe("[ended by SIGTERM]");
});

test("a command's title is its first line, shortened", () => {
  const title = (command: string) => TOOLS.find(({ name }) => name === "run_command")?.title({ command });
  expect(title("npm test")).toBe("npm test");
  expect(title("cat <<E\nlong\nE")).toBe("cat <<E …");
  expect(title("x".repeat(1000))?.length).toBeLessThan(200);
});

test("tools are selected by their names and by the names that other agents use", () => {
  expect(toolsNamed(null).tools).toHaveLength(6);
  const { tools, unknown } = toolsNamed(["Read", "Grep", "run_command", "WebSearch"]);
  expect(tools.map(({ name }) => name)).toEqual(["read_file", "search_files", "run_command"]);
  expect(unknown).toEqual(["WebSearch"]);
});

test("a tool is recognized by its kind and its input", () => {
  const inputs: Record<string, object> = {
    read_file: { path: "a", offset: 2 },
    list_files: { path: "a" },
    search_files: { pattern: "x", path: "a" },
    edit_file: { path: "a", old: "x", new: "y" },
    write_file: { path: "a", content: "x" },
    run_command: { command: "ls" },
  };
  for (const { name, kind } of TOOLS) expect(toolFor(kind, inputs[name])?.name).toBe(name);
  expect(toolFor("search", { glob: "*" })?.name).toBe("list_files");
  expect(toolFor("execute", { cmd: "ls" })).toBeUndefined();
  expect(toolFor("other", {})).toBeUndefined();
});
