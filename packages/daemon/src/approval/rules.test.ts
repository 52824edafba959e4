import { mkdirSync, mkdtempDisposableSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Asking, decide, readRules } from "./rules.ts";

const FILE = "/etc/config.toml";

function rules(...table: Record<string, unknown>[]) {
  return readRules({ table: { rules: table }, file: FILE, text: "" });
}

function bash(command: string, more: Partial<Asking> = {}): Asking {
  return { for: "approval", agent: "claude", tool: "Bash", input: { description: "x", command }, directory: "/home/dev/code/app", ...more };
}

function file(file_path: string): Asking {
  return { for: "approval", agent: "claude", tool: "Write", input: { file_path, content: "x" }, directory: "/home/dev/code/app" };
}

const READS = { tool: "Bash", pattern: "git (status|diff)( [^ ]+)*", decision: "allow" };

test("the first rule that matches decides, under its name or number", () => {
  const some = rules(
    { agent: "codex", decision: "deny", reason: "no codex here" },
    { ...READS, name: "reads" },
    { tool: "Bash", decision: "deny" },
  );
  expect(decide(some, bash("git status"))).toEqual({ decision: "allow", rule: "rule:reads", reason: null });
  expect(decide(some, bash("rm x"))).toMatchObject({ decision: "deny", rule: "rule:3" });
  expect(decide(some, bash("git status", { agent: "codex" }))).toEqual({ decision: "deny", rule: "rule:1", reason: "no codex here" });
  expect(decide(some, file("a"))).toBeUndefined();
  expect(decide(rules({ tool: "Bash", pattern: "x", decision: "ask" }, { tool: "*", decision: "allow" }), bash("ls x"))).toBeUndefined();
});

test.each([
  "git status; rm -rf /",
  "git status && rm x",
  "git status | sh",
  "git status > /etc/passwd",
  "git status < x",
  "git status $(rm x)",
  "git status `rm x`",
  "git status\nrm x",
  "git status\rrm x",
  "git status & rm x",
  "git diff $HOME",
  "git diff (x)",
])("a rule for one command does not allow %j", (command) => {
  expect(decide(rules(READS), bash(command))).toBeUndefined();
  // A pattern that matches anything does not allow several commands either.
  expect(decide(rules({ tool: "Bash", pattern: "git .*", decision: "allow" }), bash(command))).toBeUndefined();
});

test("a path or a command beside an address does not make a rule allow the address (mend 6)", () => {
  const asked = (input: unknown): Asking => ({ for: "approval", agent: "opencode", tool: "webfetch", input, directory: "/home/dev" });
  const docs = rules({ tool: "webfetch", pattern: "(https://)?docs\\.example\\.com(/.*)?", decision: "allow" });
  expect(decide(docs, asked({ url: "https://docs.example.com/a" }))).toMatchObject({ decision: "allow" });
  for (const decoy of [{ path: "docs.example.com" }, { command: "docs.example.com" }, { filePath: "docs.example.com/a" }])
    expect(decide(docs, asked({ url: "https://evil.example/?q=x", ...decoy })), JSON.stringify(decoy)).toBeUndefined();
  const deny = rules({ tool: "webfetch", pattern: "evil", decision: "deny" });
  expect(decide(deny, asked({ url: "https://evil.example/", path: "docs" }))).toMatchObject({ decision: "deny" });
});

test("an allow must match the whole text", () => {
  for (const command of ["xgit status", "git statusx", "rm x #git status", " git status"]) {
    expect(decide(rules(READS), bash(command)), command).toBeUndefined();
  }
});

test("a compound rule allows several commands if it matches all of them", () => {
  const some = rules({ tool: "Bash", pattern: "cd [a-z]+ && ls", decision: "allow", compound: true });
  expect(decide(some, bash("cd src && ls"))?.decision).toBe("allow");
  expect(decide(some, bash("cd src && ls; rm x"))).toBeUndefined();
});

test("a rule without a pattern allows one command, not several", () => {
  const some = rules({ tool: "Bash", decision: "allow" });
  expect(decide(some, bash("make"))?.decision).toBe("allow");
  expect(decide(some, bash("make; rm x"))).toBeUndefined();
});

test("a deny matches if any part does", () => {
  const some = rules({ tool: "Bash", pattern: "rm -rf", decision: "deny" }, { tool: "Bash", decision: "allow", compound: true });
  expect(decide(some, bash("ls; rm -rf /"))?.decision).toBe("deny");
  expect(decide(some, bash("ls; echo"))?.decision).toBe("allow");
});

test("a path is resolved before it is matched", () => {
  const some = rules({ tool: "Write", pattern: "src/.*", decision: "allow" });
  for (const inside of ["src/a.ts", "/home/dev/code/app/src/a.ts", "x/../src/a"])
    expect(decide(some, file(inside))?.decision, inside).toBe("allow");
  for (const outside of ["src/../../x", "/etc/src/x", "../src/x", "src/../.env"])
    expect(decide(some, file(outside)), outside).toBeUndefined();
});

test("with several paths, as in an opencode patch, an allow must match all and a deny any", () => {
  const edit = (...filepath: string[]): Asking => ({ ...file(""), agent: "opencode", tool: "edit", input: { filepath, diff: "" } });
  const some = rules({ tool: "edit", pattern: ".*\\.env", decision: "deny" }, { tool: "edit", pattern: "src/.*", decision: "allow" });
  expect(decide(some, edit("/home/dev/code/app/src/a.ts", "src/b.ts"))?.decision).toBe("allow");
  expect(decide(some, edit("/home/dev/code/app/src/a.ts", "/etc/passwd"))).toBeUndefined();
  expect(decide(some, edit("src/a.ts", "src/.env"))?.decision).toBe("deny");
});

test("a path in the home directory is not in the working directory", () => {
  const some = rules({ tool: "Write", pattern: "[^/].*", decision: "allow" });
  expect(decide(some, file("notes.md"))?.decision).toBe("allow");
  for (const outside of ["~/.bashrc", "~"]) expect(decide(some, file(outside)), outside).toBeUndefined();
});

test("a link out of an allowed directory is not allowed, and a link to a denied path is denied", () => {
  using place = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const directory = join(place.path, "app");
  mkdirSync(join(directory, "src"), { recursive: true });
  mkdirSync(join(place.path, "secret"));
  symlinkSync(join(place.path, "secret"), join(directory, "src", "docs"));
  symlinkSync("/nowhere/at/all", join(directory, "src", "new"));
  symlinkSync(join(place.path, "round"), join(directory, "src", "round"));
  symlinkSync(join(directory, "src", "round"), join(place.path, "round"));
  const asked = (path: string): Asking => ({ ...file(path), directory });
  const allowed = rules({ tool: "Write", pattern: "src/.*", decision: "allow" });
  expect(decide(allowed, asked("src/a/new/file.ts"))?.decision).toBe("allow");
  for (const outside of ["src/docs/key", "src/new", "src/new/x"]) expect(decide(allowed, asked(outside)), outside).toBeUndefined();
  // Circular links and invalid paths do not throw.
  for (const odd of ["src/round", "src/\0", `src/${"a".repeat(5000)}`]) expect(() => decide(allowed, asked(odd)), odd).not.toThrow();
  expect(decide(rules({ tool: "Write", pattern: "/secret/", decision: "deny" }), asked("src/docs/key"))?.decision).toBe("deny");
});

test("arguments that a tool does not need cannot hide those it needs", () => {
  const some = rules({ tool: "Write", pattern: "src/.*", decision: "allow" }, { tool: "Bash", pattern: "git .*", decision: "allow" });
  const write = (input: unknown): Asking => ({ ...file("x"), input });
  expect(decide(some, write({ command: "src/a.ts", file_path: "/etc/passwd" }))).toBeUndefined();
  expect(decide(some, write({ file_path: "src/a.ts", path: "/etc/passwd" }))).toBeUndefined();
  expect(decide(some, write({ file_path: ["src/a.ts", "/etc/passwd"] }))).toBeUndefined();
  expect(decide(some, write({ file_path: { a: "src/" } }))).toBeUndefined();
  expect(decide(some, { ...bash(""), input: { command: "git status", cmd: "rm x" } })).toBeUndefined();
  expect(decide(rules({ pattern: "passwd", decision: "deny" }), write({ command: "x", file_path: "/etc/passwd" }))?.decision).toBe("deny");
});

test("a rule for a directory does not allow a command that sets another directory", () => {
  const some = rules({ tool: "Bash", directory: "/home/dev/code", decision: "allow" });
  const make = (more: object) => decide(some, { ...bash("make"), input: { command: "make", ...more } });
  expect(make({ directory: "/home/dev/code/app/sub" })?.decision).toBe("allow");
  expect(make({ directory: "sub" })?.decision).toBe("allow");
  expect(make({ directory: "/tmp/theirs" })).toBeUndefined();
  expect(make({ workdir: "../../.." })).toBeUndefined();
});

test("a directory matches itself and everything below; a star matches one name", () => {
  const of = (directory: string, asked: string) =>
    decide(rules({ directory, decision: "deny" }), bash("ls", { directory: asked })) !== undefined;
  expect(of("~/code", `${homedir()}/code`)).toBe(true);
  expect(of("~/code/", `${homedir()}/code/app`)).toBe(true);
  expect(of("/home/*/code", "/home/dev/code/app")).toBe(true);
  expect(of("/home/*/code", "/home/dev/x/code")).toBe(false);
  expect(of("/home/dev", "/home/dev2")).toBe(false);
  expect(of("/home/dev", "/home/dev/../other")).toBe(false);
  expect(of("/a.b", "/axb")).toBe(false);
});

test("directory rules match the command's own working directory", () => {
  const elsewhere = (workdir: string) => bash("ls", { input: { command: "ls", workdir } });
  const allow = rules({ directory: "/home/dev/code", decision: "allow" });
  expect(decide(allow, elsewhere("src"))?.decision).toBe("allow");
  for (const path of ["/etc", "../../../../etc", "/home/dev"]) expect(decide(allow, elsewhere(path)), path).toBeUndefined();
  expect(decide(rules({ directory: "/etc", decision: "deny" }), elsewhere("/etc"))?.decision).toBe("deny");
});

test("rules decide neither questions nor very long texts", () => {
  const some = rules({ tool: "*", decision: "allow", compound: true });
  expect(decide(some, bash("ls", { for: "question" }))).toBeUndefined();
  expect(decide(some, bash("ls", { tool: null }))).toBeUndefined();
  expect(decide(some, bash(`ls ${"a".repeat(20_000)}`))).toBeUndefined();
});

test.each([
  [{ tool: "Bash" }, "has no decision"],
  [{ tool: "Bash", decision: "yes" }, "has no decision"],
  [{ tool: "Bash", patern: "ls", decision: "allow" }, 'has the unknown key "patern"'],
  [{ decision: "allow" }, "matches everything"],
  [{ tool: "Bash", pattern: "(", decision: "allow" }, "not a regular expression"],
  [{ tool: 5, decision: "allow" }, "has a tool that is not a text"],
  [{ tool: "Bash", decision: "allow", compound: "yes" }, "compound"],
  [{ directory: "code", decision: "allow" }, "not an absolute path"],
  [{ name: "a b", tool: "x", decision: "deny" }, "name with spaces"],
  [{ tool: "x", decision: "allow", reason: "why" }, "reason"],
])("%j is refused with file, line and number", (rule, why) => {
  const text = `detach_key = "F12"\n[[approvals.rules]]\ntool = "x"\ndecision = "deny"\n\n[[approvals.rules]]\n`;
  const read = () => readRules({ table: { rules: [{ tool: "x", decision: "deny" }, rule] }, file: FILE, text });
  expect(read).toThrow(expect.objectContaining({ code: "usage", message: expect.stringContaining(`${FILE}, line 6: approvals rule 2`) }));
  expect(read).toThrow(why);
});

test("a value that is not a list of rules is refused", () => {
  for (const table of [5, [], { rules: 5 }, { rules: {} }, { rule: [] }]) {
    expect(() => readRules({ table, file: FILE, text: "" }), JSON.stringify(table)).toThrow(expect.objectContaining({ code: "usage" }));
  }
  expect(readRules({ table: undefined, file: FILE, text: "" })).toEqual([]);
});
