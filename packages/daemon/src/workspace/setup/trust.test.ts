import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Principal } from "@holdfast/contract";
import { expect, test } from "vitest";
import { ScratchRepository } from "../../../test/scratch-repository.ts";
import { readProject } from "./project.ts";
import { actionsOf, TrustedProjects } from "./trust.ts";

const USER = "user:ada" as Principal;

function scratchTrust() {
  const rows = new Map<string, { directory: string; hash: string }>();
  const key = ({ directory, hash }: { directory: string; hash: string }) => `${directory} ${hash}`;
  const journal = {
    append: (...drafts: { type: string; actor: string; data: { directory: string; hash: string } }[]) => {
      for (const { type, data, actor } of drafts) {
        if (type === "trust.added") rows.set(key(data), { ...data, at: "", by: actor } as never);
        else rows.delete(key(data));
      }
    },
  };
  const queries = { list: () => [...rows.values()], get: (of: { directory: string; hash: string }) => rows.get(key(of)) };
  return new TrustedProjects({ journal, queries } as never);
}

function configure(tree: string, text: string): void {
  mkdirSync(join(tree, ".holdfast"), { recursive: true });
  writeFileSync(join(tree, ".holdfast/config.toml"), text);
}

test("trust is bound to the repository and its exact requests, in all its worktrees (mend 5)", async () => {
  using scratch = new ScratchRepository();
  const trust = scratchTrust();
  expect(await trust.inspect(scratch.path)).toEqual({ actions: null, trusted: true });
  configure(scratch.path, "[workspace]\nports = 5\n");
  expect((await trust.inspect(scratch.path)).actions).toBeNull();
  configure(scratch.path, '[workspace]\nsetup = "make"\ncopy = ["cache"]\n');
  const { actions } = await trust.inspect(scratch.path);
  expect(actions).toMatchObject({ directory: scratch.path, setup: "make", copy: ["cache"] });
  expect(() => trust.check(actions)).toThrow(expect.objectContaining({ code: "not_trusted", details: actions }));
  const hash = actions?.hash ?? "";

  await expect(trust.add({ cwd: scratch.path, hash: "another" }, USER)).rejects.toMatchObject({ code: "not_trusted" });
  await expect(trust.add({ cwd: scratch.path, hash }, "session:abc" as Principal)).rejects.toMatchObject({ code: "forbidden" });
  await trust.add({ cwd: scratch.path, hash }, USER);
  trust.check(actions);

  const tree = scratch.worktree("one");
  configure(tree, '[workspace]\ncopy = ["cache"]\nsetup = "make"\nports = 7\n');
  expect((await trust.inspect(tree)).trusted).toBe(true);
  configure(tree, '[workspace]\ncopy = ["cache"]\nsetup = "make evil"\n');
  expect((await trust.inspect(tree)).trusted).toBe(false);
  using other = new ScratchRepository();
  configure(other.path, '[workspace]\nsetup = "make"\ncopy = ["cache"]\n');
  expect((await trust.inspect(other.path)).trusted).toBe(false);

  expect(trust.revoke(scratch.path, USER)).toHaveLength(1);
  expect((await trust.inspect(scratch.path)).trusted).toBe(false);
  expect(() => trust.revoke(scratch.path, USER)).toThrow(expect.objectContaining({ code: "trust_not_found" }));
});

test("without the set-up command only copies need trust, and the defaults need none (mend 5)", () => {
  using scratch = new ScratchRepository();
  const place = { directory: scratch.path, tree: scratch.path };
  expect(actionsOf(readProject(scratch.path), place)).toBeNull();
  configure(scratch.path, '[workspace]\nsetup = "make"\n');
  expect(actionsOf(readProject(scratch.path), { ...place, setup: false })).toBeNull();
  configure(scratch.path, '[workspace]\nsetup = "make"\ncopy = [".env"]\n');
  expect(actionsOf(readProject(scratch.path), { ...place, setup: false })).toMatchObject({ copy: [".env"] });
});

test("the hint quotes the directory for the shell, and hides nothing in it (mend 8)", async () => {
  using scratch = new ScratchRepository();
  const tree = join(scratch.root, "a $(touch x)\u202e");
  mkdirSync(tree);
  configure(tree, '[workspace]\nsetup = "make"\n');
  const { actions } = await scratchTrust().inspect(tree);
  const hint = `trust add $'${scratch.root}/a $(touch x)\\u202e'; or`;
  expect(() => scratchTrust().check(actions)).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }));
});
