/** Plants everything in a repository that makes git start a program, as a hostile agent would. Each program leaves a mark. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const HOOKS = [
  ...[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
  ],
  ...["pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase", "prepare-commit-msg", "reference-transaction"],
  ...["pre-receive", "update", "post-receive", "post-update", "proc-receive", "push-to-checkout"],
];

export const ATTRIBUTES = "* filter=planted diff=planted merge=planted\n";

export class Planted {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { recursive: true });
  }

  /** The programs that were run, by the setting that named them. */
  get marks(): string[] {
    return existsSync(this.#marks) ? readFileSync(this.#marks, "utf8").split("\n").filter(Boolean) : [];
  }

  /** Plants configuration, hooks and attributes into a git directory. */
  plant(gitDirectory: string): void {
    const file = path.join(gitDirectory, "config");
    const before = existsSync(file) ? readFileSync(file, "utf8") : "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
    writeFileSync(file, `${before}\n${this.settings}`);
    this.hooks(path.join(gitDirectory, "hooks"));
    mkdirSync(path.join(gitDirectory, "info"), { recursive: true });
    writeFileSync(path.join(gitDirectory, "info", "attributes"), ATTRIBUTES);
  }

  hooks(directory: string): void {
    mkdirSync(directory, { recursive: true });
    for (const name of HOOKS) writeFileSync(path.join(directory, name), `#!/bin/sh\n${this.#mark(`hook ${name}`)}\n`, { mode: 0o755 });
  }

  get settings(): string {
    const program = (name: string) => JSON.stringify(this.#program(name));
    const shell = (name: string) => JSON.stringify(`!${this.#program(name)}`);
    const included = path.join(this.#directory, "included");
    writeFileSync(
      included,
      `[filter "planted"]\n\tclean = ${program("included")}\n[core]\n\tfsmonitor = ${program("included fsmonitor")}\n`,
    );
    this.hooks(path.join(this.#directory, "hooks"));
    return `
[core]
	fsmonitor = ${program("core.fsmonitor")}
	hooksPath = ${JSON.stringify(path.join(this.#directory, "hooks"))}
	sshCommand = ${program("core.sshCommand")}
	editor = ${program("core.editor")}
	pager = ${program("core.pager")}
	askPass = ${program("core.askPass")}
	gitProxy = ${program("core.gitProxy")}
	alternateRefsCommand = ${program("core.alternateRefsCommand")}
	worktree = ${JSON.stringify(this.#directory)}
[filter "planted"]
	clean = ${program("filter.clean")}
	smudge = ${program("filter.smudge")}
	process = ${program("filter.process")}
[diff]
	external = ${program("diff.external")}
	submodule = diff
[diff "planted"]
	command = ${program("diff.command")}
	textconv = ${program("diff.textconv")}
[merge "planted"]
	driver = ${program("merge.driver")}
[gpg]
	program = ${program("gpg.program")}
[gpg "ssh"]
	program = ${program("gpg.ssh.program")}
	defaultKeyCommand = ${program("gpg.ssh.defaultKeyCommand")}
[credential]
	helper = ${shell("credential.helper")}
[alias]
	status = ${shell("alias.status")}
	lfs = ${shell("alias.lfs")}
[sequence]
	editor = ${program("sequence.editor")}
[interactive]
	diffFilter = ${program("interactive.diffFilter")}
[pager]
	diff = ${program("pager.diff")}
	log = ${program("pager.log")}
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[uploadpack]
	packObjectsHook = ${program("uploadpack.packObjectsHook")}
[submodule "lib"]
	update = ${shell("submodule.update")}
[lfs "customtransfer.planted"]
	path = ${program("lfs.customtransfer")}
[include]
	path = ${JSON.stringify(included)}
`;
  }

  /** The address of a remote. */
  get address(): string {
    return `ext::${this.#program("ext").replaceAll(" ", "% ")}`;
  }

  get #marks(): string {
    return path.join(this.#directory, "marks");
  }

  #mark(name: string): string {
    return `echo '${name}' >> '${this.#marks}'`;
  }

  /** Leaves its mark and copies its input to its output. */
  #program(name: string): string {
    const file = path.join(this.#directory, name.replaceAll(/[ .]/g, "-"));
    writeFileSync(file, `#!/bin/sh\n${this.#mark(name)}\n[ $# -gt 0 ] && [ -f "$1" ] && exec cat "$1"\nexec cat\n`);
    chmodSync(file, 0o755);
    return file;
  }
}
