/** README and guides: every command in them runs as written. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { type Approval, VERSION } from "@holdfast/contract";
import { expect, test } from "vitest";
import { blocksOf, failuresIn, type ShellName } from "./documentation.ts";
import { eventually, ROOT, TestHome } from "./home.ts";
import { packed } from "./installed.ts";
import { TestRepository } from "./repository.ts";
import { Sshd } from "./sshd.ts";

const AGENTS = ["claude", "codex", "gemini", "qwen", "opencode", "claude-agent-acp", "codex-acp"];
const SHELLS: ShellName[] = ["bash", "zsh"];

const FILES = ["README.md", ...readdirSync(path.join(ROOT, "docs/guides")).map((name) => `docs/guides/${name}`)];

/** Blocks of the language `console`: commands that no test machine can run, each with its first line and the reason. */
const NOT_RUN: Record<string, string> = {};
const MOST_NOT_RUN = 6;

/** Languages of blocks that a reader does not paste into a shell. */
const NOT_SHELL = ["text", "toml", "ts", "js", "json", "markdown"];

test.each(FILES)("%s names the language of every block, and hides no command in a block that is not run", (file) => {
  for (const { language, line, lines } of blocksOf(readFileSync(path.join(ROOT, file), "utf8"))) {
    const place = `${file}:${line}`;
    expect(["sh", "console", ...NOT_SHELL], place).toContain(language);
    if (language === "console") expect(Object.keys(NOT_RUN), place).toContain(lines[0]);
    const hidden = language === "text" ? lines.filter((each) => /^\$? ?(holdfast|npm|git) /.test(each)) : [];
    expect(hidden, `${place}: commands belong in blocks of sh`).toEqual([]);
    const trailing = language === "sh" ? lines.filter((each) => /^[^#'"]*\S\s+#/.test(each)) : [];
    expect(trailing, `${place}: comments belong on lines of their own`).toEqual([]);
  }
});

const SLOW = { timeout: 900_000 };

// Run one after the other: `npm run pack` writes one file, the remote guide uses one port, and packing blocks this process.
test.each(SHELLS)("README.md leads from the clone to an answered approval in %s (NEW-17 plain, NEW-18 plain)", SLOW, async (shell) => {
  await using home = new TestHome();
  expect(await pasted(home, { file: "README.md", shell })).toEqual([]);
  const [first] = await home.json<Approval[]>(["approvals", "ls", "--all", "--session", "demo"]);
  expect(first).toMatchObject({ status: "allowed" });
});

test.each(SHELLS)("docs/guides/remote.md: every line runs in %s (NEW-17 plain)", SLOW, async (shell) => {
  await using home = new TestHome();
  await using box = new TestHome("box");
  const PATH = [path.join(ROOT, "bin"), path.dirname(process.execPath), "/usr/bin:/bin"].join(":");
  await using sshd = await Sshd.start(box.env, { PATH, HOME: box.env.HOME ?? "/", HOLDFAST_HOME: box.path });
  home.env.PATH = `${sshd.client("box")}:${home.env.PATH}`;
  expect(await pasted(home, { file: "docs/guides/remote.md", shell })).toEqual([]);
});

test.each(SHELLS)("docs/guides/script.md: every line runs in %s (NEW-17 plain)", SLOW, async (shell) => {
  await using home = new TestHome();
  installGlobally(home);
  expect(await pasted(home, { file: "docs/guides/script.md", shell })).toEqual([]);
});

const CONCURRENT = FILES.filter((file) => !/^README|\/(remote|script)\.md$/.test(file));
const CASES = CONCURRENT.flatMap((file) => SHELLS.map((shell) => ({ file, shell })));

test.concurrent.each(CASES)("$file: every line runs in $shell (NEW-17 plain)", SLOW, async ({ file, shell }) => {
  await using home = new TestHome();
  expect(await pasted(home, { file, shell })).toEqual([]);
});

function pasted(home: TestHome, { file, shell }: { file: string; shell: ShellName }): Promise<string[]> {
  const cwd = prepare(home, file);
  return failuresIn(file, { shell, env: home.env, cwd, settled: () => settled(home) });
}

/** Does the README's `npm install -g`, without npm. */
function installGlobally(home: TestHome): void {
  const modules = path.join(home.root, "npm/lib/node_modules");
  mkdirSync(modules, { recursive: true });
  execFileSync("tar", ["xf", packed(VERSION), "-C", modules]);
  renameSync(path.join(modules, "package"), path.join(modules, "holdfast"));
  mkdirSync(path.join(modules, "holdfast/node_modules"));
  symlinkSync(path.join(ROOT, "node_modules/@lydell"), path.join(modules, "holdfast/node_modules/@lydell"));
}

test("few blocks are not run, and each has a reason", () => {
  const marked = FILES.flatMap((file) => blocksOf(readFileSync(path.join(ROOT, file), "utf8"))).filter(
    ({ language }) => language === "console",
  );
  expect(marked.map(({ lines }) => lines[0]).sort()).toEqual(Object.keys(NOT_RUN).sort());
  expect(marked.length).toBeLessThanOrEqual(MOST_NOT_RUN);
});

/** A reader's machine: agents on PATH and a repository in ~/app. The README runs in the checkout, guides in the repository. */
function prepare(home: TestHome, file: string): string {
  const user = home.env.HOME ?? "";
  const bin = path.join(home.root, "bin");
  mkdirSync(bin);
  for (const name of AGENTS) {
    const program = path.join(bin, name);
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${path.join(ROOT, "agents/src/stand-in/main.ts")}' ${name} "$@"\n`);
    chmodSync(program, 0o755);
  }
  const files = {
    "package.json": '{ "name": "app", "scripts": { "test": "echo passed" } }\n',
    "src/login.ts": "export const slow = true;\n",
  };
  new TestRepository(home, files, path.relative(home.root, path.join(user, "app")));
  const node = path.dirname(process.execPath);
  const own = file === "README.md" ? [bin, node] : [path.join(ROOT, "bin"), bin, node];
  Object.assign(home.env, {
    PATH: [...own, home.env.PATH].join(":"),
    EDITOR: "true",
    // npm installs below the home, with the settings (a proxy, a mirror) and the cache of this machine.
    npm_config_prefix: path.join(home.root, "npm"),
    npm_config_userconfig: path.join(homedir(), ".npmrc"),
    npm_config_cache: path.join(homedir(), ".npm"),
    npm_config_progress: "false",
    npm_config_update_notifier: "false",
    npm_config_prefer_offline: "true",
  });
  if (file !== "README.md") return path.join(user, "app");
  symlinkSync(ROOT, path.join(user, "holdfast"));
  return user;
}

const MOST_SETTLE_MS = 8_000;
const QUIET_MS = 250;
/** The stand-ins under these names show no status on their screens. */
const UNSEEN = ["gemini", "opencode", "shell"];

/** Waits until no agent is working for a moment, as a reader does before the next line. */
async function settled(home: TestHome): Promise<void> {
  using client = home.client();
  const isQuiet = async () => {
    const { sessions } = await client.call("listSessions", { query: {} });
    return sessions.every(({ agent, status }) => UNSEEN.includes(agent) || !["unknown", "working"].includes(status));
  };
  let since = performance.now();
  const isSettled = async () => {
    if (!(await isQuiet().catch(() => true))) since = performance.now();
    return performance.now() - since > QUIET_MS;
  };
  await eventually(isSettled, MOST_SETTLE_MS, 50).catch(() => {});
}
