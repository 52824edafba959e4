import { existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { ScratchRepository } from "../../../test/scratch-repository.ts";
import { RefWatch } from "./ref-watch.ts";

/** A watch on some refs that counts its notices. */
class Noticed implements Disposable {
  count = 0;
  readonly watch: RefWatch;

  constructor(repository: ScratchRepository, ...files: string[]) {
    this.watch = new RefWatch({ common: repository.common, onNotice: () => this.count++ });
    this.watch.follow(files);
  }

  /** Checks that the work is noticed, apart from earlier work. */
  async by(work: () => unknown): Promise<void> {
    await delay(150);
    const before = this.count;
    work();
    for (let waited = 0; this.count === before; waited += 10) {
      if (waited > 15_000) throw new Error(`not noticed: ${work}`);
      await delay(10);
    }
  }

  /** Checks that the work is not noticed, but the following work is. */
  async notBy(work: () => unknown, then: () => unknown): Promise<void> {
    await delay(150);
    const before = this.count;
    work();
    await delay(200);
    expect(this.count).toBe(before);
    await this.by(then);
  }

  [Symbol.dispose](): void {
    this.watch[Symbol.dispose]();
  }
}

test("a commit in a working tree is noticed, even on a branch with slashes", async () => {
  using repository = new ScratchRepository();
  const tree = repository.worktree("a", "team/one/a");
  using noticed = new Noticed(repository, "refs/heads/team/one/a");
  await noticed.by(() => repository.commit({}, "a commit", tree));
  await noticed.by(() => repository.commit({}, "a commit", tree));
});

test("changes of other branches, the index and the working tree cause no notice", async () => {
  using repository = new ScratchRepository();
  const tree = repository.worktree("a");
  repository.git("branch", "other");
  using noticed = new Noticed(repository, "refs/heads/holdfast/a", "worktrees/a/HEAD");
  await noticed.notBy(
    () => {
      repository.commit({ "x.txt": "x\n" }, "a commit");
      repository.git("update-ref", "refs/heads/other", "main");
      repository.git("update-ref", "refs/heads/holdfast/b", "main");
      repository.git("status");
      repository.write({ "notes.txt": "no commit\n" });
    },
    () => repository.commit({}, "a commit", tree),
  );
});

test("packing, pruning and rewriting refs is noticed throughout", async () => {
  using repository = new ScratchRepository();
  const tree = repository.worktree("a");
  using noticed = new Noticed(repository, "refs/heads/holdfast/a", "refs/heads/main");
  for (let round = 0; round < 3; round++) {
    await noticed.by(() => repository.git("pack-refs", "--all"));
    expect(existsSync(join(repository.common, "refs/heads/holdfast"))).toBe(false);
    await noticed.by(() => repository.commit({}, "a commit", tree));
    await noticed.by(() => repository.commit({}, "a commit", tree));
    await noticed.by(() => repository.git("gc", "-q"));
    await noticed.by(() => repository.commit({}, "a commit", tree));
  }
});

test("a refs directory replaced by another, even with the same inode number, is still noticed", async () => {
  using repository = new ScratchRepository();
  const tree = repository.worktree("a");
  const directory = join(repository.common, "refs/heads/holdfast");
  const number = statSync(directory).ino;
  using noticed = new Noticed(repository, "refs/heads/holdfast/a");
  await noticed.by(() => {
    repository.git("pack-refs", "--all");
    for (let tries = 0; tries < 100 && statSync(directory, { throwIfNoEntry: false })?.ino !== number; tries++) {
      rmSync(directory, { recursive: true, force: true });
      mkdirSync(directory);
    }
  });
  await noticed.by(() => repository.commit({}, "a commit", tree));
});

test("deleting a branch and creating it again is noticed", async () => {
  using repository = new ScratchRepository();
  repository.git("branch", "holdfast/a");
  using noticed = new Noticed(repository, "refs/heads/holdfast/a");
  await noticed.by(() => repository.git("branch", "-D", "holdfast/a"));
  await noticed.by(() => repository.git("branch", "holdfast/a"));
  await noticed.by(() => repository.git("update-ref", "refs/heads/holdfast/a", repository.commit({}, "a commit")));
});

test("checking out another branch, or detaching the head, is noticed", async () => {
  using repository = new ScratchRepository();
  const tree = repository.worktree("a");
  using noticed = new Noticed(repository, "worktrees/a/HEAD");
  await noticed.by(() => repository.gitIn(tree, "switch", "-q", "-c", "elsewhere"));
  await noticed.by(() => repository.gitIn(tree, "switch", "-q", "--detach"));
  await noticed.by(() => repository.commit({}, "a commit", tree));
});

test("a repository that moves away and back is watched again, and so is a new one in its place", async () => {
  using repository = new ScratchRepository();
  using noticed = new Noticed(repository, "refs/heads/main");
  const away = join(repository.root, "away");
  renameSync(repository.path, away);
  renameSync(away, repository.path);
  await noticed.by(() => repository.commit({}, "a commit"));
  await noticed.by(() => renameSync(repository.common, away));
  await noticed.by(() => renameSync(away, repository.common));
  await noticed.by(() => repository.commit({}, "a commit"));
  await noticed.by(() => rmSync(repository.path, { recursive: true }));
  await noticed.by(() => repository.gitIn(dirname(repository.path), "init", "-q", "-b", "main", repository.path));
  await noticed.by(() => repository.commit({}, "a commit"));
});

test("a look repairs the watches after a directory further up was replaced without a notice", async () => {
  using repository = new ScratchRepository();
  using noticed = new Noticed(repository, "refs/heads/main");
  const away = join(repository.root, "away");
  await noticed.notBy(
    () => {
      renameSync(repository.path, away);
      repository.gitIn(repository.root, "clone", "-q", away, repository.path);
      noticed.watch.look();
    },
    () => repository.commit({}, "a commit"),
  );
});

test("many simultaneous ref changes cause few notices", async () => {
  using repository = new ScratchRepository();
  const names = Array.from({ length: 200 }, (_, index) => `holdfast/${index}`);
  using noticed = new Noticed(repository, ...names.map((name) => `refs/heads/${name}`));
  await noticed.by(() => {
    for (const name of names.slice(0, 50)) repository.git("branch", name);
  });
  await delay(300);
  expect(noticed.count).toBeLessThan(12);
});
