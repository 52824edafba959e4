import { expect, test } from "vitest";
import { isHarmless, readSettings, writeSettings } from "./settings.ts";

test("settings that name a program, and unknown settings, are left out (mend 3)", () => {
  const programs = [
    ...[
      "core.fsmonitor",
      "core.hookspath",
      "core.sshcommand",
      "core.editor",
      "core.pager",
      "core.askpass",
      "core.gitproxy",
      "core.worktree",
    ],
    ...["core.alternaterefscommand", "filter.lfs.clean", "filter.a.b.process", "diff.external", "diff.x.command", "diff.x.textconv"],
    ...[
      "merge.x.driver",
      "gpg.program",
      "gpg.ssh.program",
      "gpg.ssh.defaultkeycommand",
      "credential.helper",
      "credential.https://x.helper",
    ],
    ...["alias.status", "include.path", "includeif.gitdir:/x.path", "submodule.lib.update", "protocol.ext.allow", "protocol.allow"],
    ...["remote.origin.uploadpack", "remote.origin.receivepack", "remote.origin.vcs", "uploadpack.packobjectshook", "gc.recentobjectshook"],
    ...["hook.x.command", "lfs.customtransfer.x.path", "lfs.extension.x.clean", "lfs.standalonetransferagent", "trailer.x.command"],
    ...["branch.main.mergeoptions", "extensions.worktreeconfig", "push.recursesubmodules", "diff.submodule", "nobody.knows", "core", ""],
  ];
  for (const key of programs) expect(isHarmless(key), key).toBe(false);
  for (const key of ["core.autocrlf", "user.email", "remote.origin.url", "branch.a.b.merge", "extensions.objectformat", "diff.x.xfuncname"])
    expect(isHarmless(key), key).toBe(true);
});

test("written settings are read back unchanged by git", () => {
  const text =
    'local\0user.name\nA "quoted" \\ name\0global\0user.email\nx\0local\0branch.a"b.c.merge\nrefs/heads/a\nb\0local\0core.bare\0';
  const settings = readSettings(text);
  expect(settings.map(({ scope, key, value }) => [scope, key, value])).toEqual([
    ["local", "user.name", 'A "quoted" \\ name'],
    ["global", "user.email", "x"],
    ["local", 'branch.a"b.c.merge', "refs/heads/a\nb"],
    ["local", "core.bare", null],
  ]);
  expect(writeSettings(settings)).toBe(
    '[user]\n\tname = "A \\"quoted\\" \\\\ name"\n[user]\n\temail = "x"\n[branch "a\\"b.c"]\n\tmerge = "refs/heads/a\\nb"\n[core]\n\tbare\n',
  );
});
