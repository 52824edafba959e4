/** No verb runs a program that a repository, a worktree or a nested repository names; programs of the user's global configuration run. */
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Session, Tournament, Workspace } from "@holdfast/contract";
import { expect, test } from "vitest";
import { TestHome } from "./home.ts";
import { ATTRIBUTES, Planted } from "./planted.ts";
import { TestRepository } from "./repository.ts";

/** Every verb that runs git on a workspace; the last ones remove and recover it. Whether a verb fails or works, nothing planted may run. */
const VERBS: readonly (readonly string[])[] = [
  ["workspace", "ls"],
  ["workspace", "show", "one"],
  ["workspace", "diff", "one"],
  ["workspace", "diff", "one", "--stat"],
  ["checkpoint", "create", "one"],
  ["checkpoint", "ls", "one"],
  ["checkpoint", "diff", "one"],
  ["checkpoint", "rewind", "one", "1"],
  ["digest", "--since", "1h"],
  ["context", "show", "worker"],
  ["fork", "worker", "--name", "forked"],
  ["workspace", "rm", "one", "--dry-run"],
  ["workspace", "merge", "one", "--commit", "all", "--squash"],
  ["workspace", "merge", "one", "--push"],
  ["workspace", "pr", "one"],
  ["stop", "worker", "forked"],
  ["workspace", "rm", "one", "--force"],
  ["workspace", "recover", "one"],
  ["workspace", "gc"],
  ["doctor"],
];

class Project extends TestHome {
  readonly planted = new Planted(path.join(this.root, "planted"));
  readonly repository = new TestRepository(this, {
    "a.txt": "one\n",
    ".gitattributes": ATTRIBUTES,
    ".gitignore": "ignored/\n*.git\nevil\n",
  });

  /** A workspace with a submodule, a session, and uncommitted files. */
  async workspace(): Promise<Workspace> {
    const library = new TestRepository(this, { "l.txt": "l\n", ".gitattributes": ATTRIBUTES }, "library");
    this.repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--name", "lib", library.path, "lib");
    this.repository.commit({}, "with a library");
    await this.json<Session>(["spawn", "demo", "--name", "worker", "--worktree"], { cwd: this.repository.path });
    const made = await this.json<Workspace>(["workspace", "show", "worker"]);
    await this.ok(["workspace", "create", "two"], { cwd: this.repository.path });
    return made;
  }

  change(tree: string, { submodule }: { submodule: boolean }): void {
    const files = { "a.txt": `changed ${Math.random()}\n`, "new.txt": "new\n", "sub/.gitattributes": ATTRIBUTES };
    // A merge refuses uncommitted changes in a submodule.
    this.repository.write({ ...files, "lib/l.txt": submodule ? "changed\n" : "l\n" }, tree);
  }

  /** Returns the verbs that failed, with their messages. */
  async every(verbs: typeof VERBS, { name, path: tree }: Workspace): Promise<string[]> {
    const failed: string[] = [];
    for (const verb of verbs) {
      if (existsSync(tree)) this.change(tree, { submodule: !verb.includes("merge") });
      const words = verb.map((word) => (word === "one" ? name : word));
      const { code, stderr } = await this.cli(words, { cwd: this.repository.path });
      if (code !== 0) failed.push(`${verb.join(" ")}: ${stderr}`);
      expect(this.planted.marks, verb.join(" ")).toEqual([]);
    }
    return failed;
  }

  /** The git directory of the worktree. */
  gitDirectory({ path: tree }: Workspace): string {
    return path.resolve(tree, this.repository.gitIn(tree, "rev-parse", "--git-dir"));
  }
}

/** Ways for an agent to have its own configuration read. */
const WAYS: Readonly<Record<string, (project: Project, workspace: Workspace) => void>> = {
  "the repository's configuration, that of a worktree, of repositories within, and alternates": (project, workspace) => {
    const { repository, planted } = project;
    const tree = workspace.path;
    const gitDirectory = project.gitDirectory(workspace);
    const submodule = path.resolve(tree, "lib", repository.gitIn(path.join(tree, "lib"), "rev-parse", "--git-dir"));
    repository.git("remote", "add", "origin", planted.address);
    repository.git("config", "extensions.worktreeConfig", "true");
    repository.gitIn(tree, "init", "--quiet", "ignored/clone");
    repository.commit({ "c.txt": "c\n", ".gitattributes": ATTRIBUTES }, "inner", path.join(tree, "ignored/clone"));
    repository.write({ "c.txt": "changed\n" }, path.join(tree, "ignored/clone"));
    repository.git("init", "--quiet", "--bare", path.join(tree, "evil.git"));
    repository.write({ "objects/info/alternates": `${path.join(tree, "evil.git/objects")}\n` }, path.join(repository.path, ".git"));
    planted.plant(path.join(repository.path, ".git"));
    planted.plant(path.join(tree, "evil.git"));
    planted.plant(path.join(tree, "ignored/clone", ".git"));
    planted.plant(submodule);
    writeFileSync(path.join(gitDirectory, "config.worktree"), planted.settings);
  },
  "a .git file that points into the worktree": ({ repository, planted }, { path: tree }) => {
    cpSync(path.join(repository.path, ".git"), path.join(tree, "src", "evil"), { recursive: true });
    planted.plant(path.join(tree, "src", "evil"));
    writeFileSync(path.join(tree, ".git"), `gitdir: ${path.join(tree, "src", "evil")}\n`);
  },
  "a directory in place of the .git file": ({ repository, planted }, { path: tree }) => {
    rmSync(path.join(tree, ".git"));
    cpSync(path.join(repository.path, ".git"), path.join(tree, ".git"), { recursive: true });
    planted.plant(path.join(tree, ".git"));
  },
  "another common directory behind a link": (project, workspace) => {
    const evil = path.join(workspace.path, "evil");
    const gitDirectory = project.gitDirectory(workspace);
    cpSync(path.join(project.repository.path, ".git"), evil, { recursive: true });
    project.planted.plant(evil);
    writeFileSync(path.join(gitDirectory, "commondir"), `${evil}\n`);
    rmSync(path.join(workspace.path, ".git"));
    symlinkSync("evil", path.join(workspace.path, ".git"));
  },
};

/** The whole list takes half a minute. The omitted verbs do not touch the tree, start an agent, or run the same git commands as the others. */
const SHORT = VERBS.filter(
  (verb) => !/^(workspace (show|diff .*--stat|pr|merge .*--push|gc)|context|fork|doctor|stop)/.test(verb.join(" ")),
);

test.each(Object.keys(WAYS).map((way, index) => ({ way, verbs: index === 0 ? VERBS : SHORT })))(
  "nothing planted as $way is run by any verb (mend 3)",
  async ({ way, verbs }) => {
    await using project = new Project();
    const workspace = await project.workspace();
    WAYS[way]?.(project, workspace);
    // A worktree directory on the PATH, with a program in it.
    project.env.PATH = `.:${project.env.PATH}`;
    project.planted.hooks(path.join(workspace.path, "bin"));
    renameSync(path.join(workspace.path, "bin", "update"), path.join(workspace.path, "git"));
    const failed = await project.every(verbs, workspace);
    // Expected failures: without its filter nothing is committed, a command as address is refused, gh is missing, and there is no conversation to
    // fork.
    expect(failed).toEqual(failed.filter((verb) => /the filter planted|--push|workspace pr|fork/.test(verb)));
  },
);

test("a tournament in a planted repository is made, compared and kept, and nothing planted runs (mend 3)", async () => {
  await using project = new Project();
  project.planted.plant(path.join(project.repository.path, ".git"));
  // The user's own definition of the same name wins.
  for (const way of ["clean", "smudge"]) project.repository.gitIn(project.root, "config", "--global", `filter.planted.${way}`, "cat");
  const words = ["spawn", "demo", "--best-of", "2", "--name", "fix", "--prompt", "say done"];
  const { tournament } = await project.json<{ tournament: Tournament }>(words, { cwd: project.repository.path });
  for (const { workspace } of tournament.entries) project.repository.write({ "a.txt": "changed\n" }, workspace?.path);
  await project.ok(["compare", "fix"]);
  await project.ok(["keep", "fix-1", "--commit", "kept", "--yes"]);
  expect(project.planted.marks).toEqual([]);
});

/** Files that git opens automatically; the last one only when it walks the tree. */
const PIPES = [".gitignore", ".gitattributes", ".gitmodules", "deep/down/.gitignore"];

const NEED_FILES = /^(workspace (diff|merge .*squash)|checkpoint create)/;

test.each(PIPES)("no verb waits for a named pipe at %s, and the reason names it (mend 3)", async (file) => {
  await using home = new TestHome();
  const repository = new TestRepository(home, { "a.txt": "one\n", "deep/down/b.txt": "b\n" });
  await home.ok(["spawn", "demo", "--name", "worker", "--worktree"], { cwd: repository.path });
  const { path: tree } = await home.json<Workspace>(["workspace", "show", "worker"]);
  await repository.workspace("two");
  repository.write({ "a.txt": "changed\n", "deep/down/c.txt": "c\n" }, tree);
  const pipe = path.join(tree, file);
  mkdirSync(path.dirname(pipe), { recursive: true });
  execFileSync("mkfifo", [pipe]);
  for (const verb of file.includes("/") ? VERBS : SHORT) {
    const words = verb.map((word) => (word === "one" ? "worker" : word));
    const { code, stderr } = await home.cli(words, { cwd: repository.path });
    if (NEED_FILES.test(words.join(" "))) expect(stderr, words.join(" ")).toContain(`${pipe} is a named pipe`);
    else if (/^(workspace (ls|show)|digest|context)/.test(words.join(" ")))
      expect({ code, stderr }, words.join(" ")).toEqual({ code: 0, stderr: "" });
  }
  // The other workspaces stay listed, and this one is gone.
  expect((await home.json<Workspace[]>(["workspace", "ls"])).map(({ name }) => name)).toContain("two");
});

test("filters, text conversions and hooks of the user's global configuration run (mend 3)", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home, { ".gitattributes": "*.txt filter=case diff=shout\n", "a.txt": "ONE\n" });
  repository.git("config", "--global", "filter.case.clean", "tr a-z A-Z");
  repository.git("config", "--global", "filter.case.smudge", "tr A-Z a-z");
  repository.git("config", "--global", "diff.shout.textconv", "sed s/^/converted:/");
  repository.write({ "hooks/pre-commit": `#!/bin/sh\ntouch ${home.root}/asked\n` }, home.root);
  chmodSync(path.join(home.root, "hooks/pre-commit"), 0o755);
  repository.gitIn(home.root, "config", "--global", "core.hooksPath", path.join(home.root, "hooks"));
  const { path: tree } = await repository.workspace("one");
  expect(readFileSync(path.join(tree, "a.txt"), "utf8")).toBe("one\n");
  repository.write({ "a.txt": "two\n" }, tree);
  expect(await home.ok(["workspace", "diff", "one"])).toMatch(/^-converted:one\n\+converted:two$/m);
  await home.ok(["workspace", "merge", "one", "--commit", "all"]);
  expect(existsSync(path.join(home.root, "asked"))).toBe(true);
  expect(repository.git("show", "main:a.txt")).toBe("TWO");
  expect(readFileSync(path.join(repository.path, "a.txt"), "utf8")).toBe("two\n");
});
