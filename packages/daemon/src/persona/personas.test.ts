import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Personas } from "./personas.ts";

let root: string;
let home: string;
let project: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), "holdfast-personas-")));
  home = path.join(root, "home");
  project = path.join(home, "project");
  mkdirSync(path.join(project, ".git"), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const personas = () => new Personas({ knowsAgent: (name) => name === "claude", enforcedIn: () => ["terminal"], env: { HOME: "/nowhere" } });
const list = (cwd = project) => personas().list({ cwd, home });

function write(file: string, fields: { name: string; agent?: string; says?: string }): string {
  mkdirSync(path.dirname(file), { recursive: true });
  const { name, agent, says = "" } = fields;
  writeFileSync(file, `---\nname: ${name}\ndescription: does things\n${agent ? `agent: ${agent}\n` : ""}---\n${says}\n`);
  return file;
}

test("project personas win over the user's, and both over Claude Code's; shadowed ones are listed (TURN-11 conversations)", async () => {
  const files = [
    write(path.join(project, ".holdfast/personas/r.md"), { name: "reviewer" }),
    write(path.join(home, ".config/holdfast/personas/r.md"), { name: "reviewer" }),
    write(path.join(project, ".claude/agents/r.md"), { name: "reviewer" }),
    write(path.join(home, ".claude/agents/deep/r.md"), { name: "reviewer" }),
  ];
  write(path.join(home, ".claude/agents/w.md"), { name: "writer", agent: "claude" });
  const { personas: found, problems } = await list();
  expect(found.map(({ name, source, file, shadowedBy }) => [name, source, file, shadowedBy])).toEqual([
    ["reviewer", "project", files[0], null],
    ["reviewer", "user", files[1], files[0]],
    ["reviewer", "claude_project", files[2], files[0]],
    ["reviewer", "claude_user", files[3], files[0]],
    ["writer", "claude_user", path.join(home, ".claude/agents/w.md"), null],
  ]);
  expect(problems).toEqual([]);
  rmSync(files[0] ?? "");
  expect((await personas().find("reviewer", { cwd: project, home })).source).toBe("user");
});

test("the nearest directory of a project wins, and nothing above its repository counts", async () => {
  write(path.join(project, ".holdfast/personas/r.md"), { name: "reviewer", says: "far" });
  write(path.join(project, "packages/one/.holdfast/personas/r.md"), { name: "reviewer", says: "near" });
  write(path.join(root, ".holdfast/personas/o.md"), { name: "outside" });
  write(path.join(home, ".holdfast/personas/o.md"), { name: "outside" });
  const cwd = path.join(project, "packages/one");
  expect((await list(cwd)).personas.map(({ name, instructions }) => [name, instructions])).toEqual([
    ["reviewer", "near"],
    ["reviewer", "far"],
  ]);
});

test("without a repository, directories count up to the home", async () => {
  rmSync(path.join(project, ".git"), { recursive: true });
  write(path.join(home, ".holdfast/personas/o.md"), { name: "mine" });
  write(path.join(root, ".holdfast/personas/o.md"), { name: "outside" });
  expect((await list()).personas.map(({ name }) => name)).toEqual(["mine"]);
});

test.runIf(process.getuid?.() === 0)("the search upwards never enters a directory of another owner", async () => {
  const { chownSync } = await import("node:fs");
  rmSync(path.join(project, ".git"), { recursive: true });
  write(path.join(project, "mine/.holdfast/personas/o.md"), { name: "mine" });
  write(path.join(project, ".holdfast/personas/o.md"), { name: "planted" });
  chownSync(project, 12_345, 12_345);
  expect((await list(path.join(project, "mine"))).personas.map(({ name }) => name)).toEqual(["mine"]);
});

test("a file that is in two places, as in a home that is a project, is listed once", async () => {
  write(path.join(home, ".claude/agents/w.md"), { name: "writer" });
  const file = write(path.join(home, ".holdfast/personas/r.md"), { name: "reviewer" });
  symlinkSync(file, path.join(home, ".holdfast/personas/same.md"));
  const { personas: found } = await list(home);
  expect(found.map(({ name, source, shadowedBy }) => [name, source, shadowedBy])).toEqual([
    ["reviewer", "project", null],
    ["writer", "claude_user", null],
  ]);
});

test("an invalid persona is reported, and hides neither others nor one of its name in a later place", async () => {
  const bad = path.join(project, ".holdfast/personas/reviewer.md");
  write(bad, { name: "a: b" });
  const good = write(path.join(home, ".claude/agents/reviewer.md"), { name: "reviewer" });
  write(path.join(project, ".holdfast/personas/writer.md"), { name: "writer" });
  const { personas: found, problems } = await list();
  expect(found.map(({ name, file }) => [name, path.basename(path.dirname(file))])).toEqual([
    ["reviewer", "agents"],
    ["writer", "personas"],
  ]);
  expect(problems).toMatchObject([{ file: bad, line: 2, usable: false }]);
  rmSync(good);
  await expect(personas().find("reviewer", { cwd: project, home })).rejects.toMatchObject({
    code: "persona_unusable",
    message: expect.stringContaining(`${bad}:2: the front matter is not YAML`),
  });
});

test("the error for a missing persona lists the existing ones", async () => {
  write(path.join(project, ".holdfast/personas/writer.md"), { name: "writer" });
  await expect(personas().find("reviewer", { cwd: project, home })).rejects.toMatchObject({
    code: "persona_not_found",
    candidates: ["writer"],
  });
});

test("an unknown agent is reported, and the persona is listed", async () => {
  const file = write(path.join(project, ".holdfast/personas/w.md"), { name: "writer", agent: "clawed" });
  const { personas: found, problems } = await list();
  expect(found).toHaveLength(1);
  expect(problems).toEqual([
    { file, line: 4, what: "there is no agent clawed", expected: "one of those that holdfast agents lists", usable: true },
  ]);
});

test("long files and dangling links are reported; directories and notes are ignored", async () => {
  const directory = path.join(project, ".holdfast/personas");
  mkdirSync(path.join(directory, "folder.md"), { recursive: true });
  writeFileSync(path.join(directory, "long.md"), `---\nname: long\ndescription: x\n---\n${"x".repeat(300_000)}`);
  symlinkSync("/nowhere/at/all", path.join(directory, "nowhere.md"));
  writeFileSync(path.join(directory, "notes.txt"), "no persona");
  mkdirSync(path.join(project, ".claude/agents"), { recursive: true });
  writeFileSync(path.join(project, ".claude/agents/README.md"), "# Our agents");
  const { personas: found, problems } = await list();
  expect(found).toEqual([]);
  expect(problems.map(({ file, what }) => [path.basename(file), what])).toEqual([
    ["long.md", "it is longer than 256 KB"],
    ["nowhere.md", expect.stringContaining("cannot be read")],
  ]);
});

test("a place that is a file is ignored, and an unreadable directory is an error", async () => {
  mkdirSync(path.join(project, ".holdfast"));
  writeFileSync(path.join(project, ".holdfast/personas"), "");
  expect((await list()).personas).toEqual([]);
  if (process.getuid?.() === 0) return;
  rmSync(path.join(project, ".holdfast/personas"));
  mkdirSync(path.join(project, ".holdfast/personas"), { mode: 0 });
  try {
    await expect(list()).rejects.toMatchObject({ code: "file_unusable" });
  } finally {
    chmodSync(path.join(project, ".holdfast/personas"), 0o700);
  }
});

test("without a caller's home the daemon's home counts", async () => {
  write(path.join(home, ".claude/agents/w.md"), { name: "writer" });
  const own = new Personas({ knowsAgent: () => true, enforcedIn: () => [], env: { HOME: home } });
  expect((await own.list({ cwd: project })).personas.map(({ name }) => name)).toEqual(["writer"]);
});

test("a directory of personas that is a link to a huge tree is cut off and reported", async () => {
  const huge = path.join(root, "huge");
  for (let i = 0; i < 21; i++) {
    mkdirSync(path.join(huge, `d${i}`), { recursive: true });
    for (let j = 0; j < 100; j++) writeFileSync(path.join(huge, `d${i}`, `${j}.txt`), "");
  }
  mkdirSync(path.join(project, ".claude"), { recursive: true });
  symlinkSync(huge, path.join(project, ".claude/agents"));
  write(path.join(home, ".claude/agents/w.md"), { name: "writer" });
  const { personas: found, problems } = await list();
  expect(found.map(({ name }) => name)).toEqual(["writer"]);
  expect(problems).toMatchObject([{ file: path.join(project, ".claude/agents"), what: "it has more than 2000 files" }]);
});
