import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempDisposableSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { launchFile, runEnvironment } from "./launch-file.ts";

const SHELLS = ["/bin/sh", "/bin/bash", "/bin/dash"].filter((shell) => existsSync(shell));

/** The keeper's own environment, which a run must not get. */
const KEEPER = { PATH: "/usr/bin:/bin", HOME: "/keeper", XDG_RUNTIME_DIR: "/run/keeper", TMUX: "/tmp/tmux,1,0", TMUX_PANE: "%1" };

const SHOW =
  "process.stdout.write(JSON.stringify({ env: process.env, cwd: process.cwd(), umask: process.umask(), args: process.argv.slice(1) }))";

interface Shown {
  env: Record<string, string>;
  cwd: string;
  umask: number;
  args: string[];
}

interface What {
  cwd?: string;
  umask?: number;
  env?: Record<string, string>;
  command?: string[];
}

function launch(shell: string, what: What) {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const file = join(directory.path, "launch");
  const { cwd = "/", umask = 0o022, env = {}, command = [process.execPath, "-e", SHOW] } = what;
  writeFileSync(file, launchFile({ cwd, umask, env: runEnvironment(env), inherited: Object.keys(KEEPER), command }));
  return spawnSync(shell, ["-c", '. "$FILE"'], { cwd: "/", env: { ...KEEPER, FILE: file }, encoding: "utf8", maxBuffer: 1 << 26 });
}

function show(shell: string, what: What): Shown {
  const { stdout, stderr, status } = launch(shell, what);
  if (status !== 0 || stderr !== "") throw new Error(`it ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as Shown;
}

const HOSTILE = {
  EMPTY: "",
  NEWLINES: "\n one \n\n two\n",
  QUOTES: `it's "quoted" \`back\` '' '''`,
  EXPANSION: "$(touch /tmp/pwned) $" + "{HOME} `id` $HOME $$ !! ~ *",
  BACKSLASH: "\\ \\n \\' \\\\",
  SEMICOLON: "; exit 1 # & | > /dev/null",
  UNICODE: "漢字 🦭 é \u{1F468}\u{200D}\u{1F469} \u202e",
  CONTROL: "\x01\x02\x1b[31m\t\r\x7f",
  EQUALS: "=a=b",
  LONG: "x'y\n".repeat(25_000),
  lower_case_1: "yes",
};

test.each(SHELLS)("%s gives the program every value byte for byte, and nothing of the keeper's own environment", (shell) => {
  const { env } = show(shell, { env: { PATH: "/usr/bin", ...HOSTILE } });
  expect(env).toMatchObject(HOSTILE);
  const { FILE: _file, PWD: _pwd, _: _last, SHLVL: _level, ...rest } = env;
  expect(Object.keys(rest).sort()).toEqual([...Object.keys(HOSTILE), "PATH"].sort());
});

test.each(SHELLS)("%s takes any value that an environment can hold", (shell) => {
  const value = fc.string({
    unit: fc.constantFrom("'", '"', "\\", "\n", "$", "`", "!", " ", "a", "é", "\t", "(", ")", "~", "#", "-", "*"),
    maxLength: 30,
  });
  fc.assert(
    fc.property(fc.array(value, { minLength: 40, maxLength: 40 }), (values) => {
      const env = Object.fromEntries(values.map((each, i) => [`V${i}`, each]));
      expect(show(shell, { env }).env).toMatchObject(env);
    }),
    { numRuns: 3 },
  );
});

test.each(SHELLS)("%s gives the program its arguments unchanged", (shell) => {
  const args = ["", "it's", "a b", "$HOME", "-x", "--", "*", "\n", "漢字", "\\", "x".repeat(50_000)];
  expect(show(shell, { command: [process.execPath, "-e", SHOW, "--", ...args] }).args).toEqual(args);
});

test.each(SHELLS)("%s starts the program in its directory and with its umask, whatever the directory is called", (shell) => {
  using base = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  for (const name of ["with space", "it's", "-dash", "$(id)", "new\nline", "漢字", "~", "back\\slash"]) {
    const cwd = join(realpathSync(base.path), name);
    mkdirSync(cwd);
    const shown = show(shell, { cwd, umask: 0o027, env: { CDPATH: "/usr", HOME: "/" } });
    expect([shown.cwd, shown.env.PWD, shown.umask]).toEqual([cwd, cwd, 0o027]);
  }
});

test("a directory reached by a link keeps the name the caller gave it", () => {
  using base = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const link = join(realpathSync(base.path), "link");
  symlinkSync("/usr", link);
  const shown = show("/bin/sh", { cwd: link });
  expect([shown.env.PWD, shown.cwd]).toEqual([link, "/usr"]);
});

test.each(SHELLS)("%s ends with 126 if the directory no longer exists", (shell) => {
  expect(launch(shell, { cwd: "/nowhere/at/all" }).status).toBe(126);
});

test.each(SHELLS)("%s finds the program on the caller's PATH, not on the keeper's", (shell) => {
  using base = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const program = join(base.path, "only here");
  writeFileSync(program, '#!/bin/sh\necho "found $1"\n');
  chmodSync(program, 0o755);
  expect(launch(shell, { env: { PATH: base.path }, command: ["only here", "it"] }).stdout).toBe("found it\n");
  expect(launch(shell, { env: { PATH: "" }, cwd: base.path, command: ["only here", "it"] }).stdout).toBe("found it\n");
  expect(launch(shell, { env: { PATH: "/nowhere" }, command: ["only here"] }).status).toBe(127);
});

test.each(SHELLS)("%s finds standard programs for a caller without a PATH", (shell) => {
  expect(launch(shell, { env: {}, command: ["echo", "found"] }).stdout).toBe("found\n");
});

test.each(SHELLS)("%s runs a program, never a shell builtin", (shell) => {
  expect(launch(shell, { env: { PATH: "/usr/bin:/bin" }, command: ["cd", "/"] }).status).not.toBe(0);
  expect(launch(shell, { env: { PATH: "/usr/bin:/bin" }, command: ["export"] }).status).not.toBe(0);
});

test("invalid names, and variables of the caller's terminal or of Holdfast, are left out", () => {
  const caller = {
    KEPT: "yes",
    _ALSO: "yes",
    "BASH_FUNC_x%%": "() { :; }",
    "1ST": "no",
    "WITH-DASH": "no",
    "": "no",
    "A B": "no",
    ÉTÉ: "no",
    NUL: "a\0b",
    TMUX: "no",
    TMUX_PANE: "no",
    TMUX_TMPDIR: "no",
    HOLDFAST_RUN: "no",
    HOLDFAST_TOKEN: "no",
    TERM: "no",
    COLUMNS: "no",
    PWD: "no",
    SHLVL: "no",
    UID: "no",
    SHELLOPTS: "no",
    IFS: "no",
    TERMINFO: "yes",
    HOLDFASTER: "yes",
  };
  expect(runEnvironment(caller)).toEqual({ KEPT: "yes", _ALSO: "yes", TERMINFO: "yes", HOLDFASTER: "yes" });
});
