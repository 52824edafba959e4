/** A daemon without file descriptors, and a socket directory without space: the cause is reported, the daemon continues. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { TestHome } from "./home.ts";

/** Leaves that many free descriptors; null removes the limit. */
function leave(pid: number, free: number | null): void {
  const used = readdirSync(`/proc/${pid}/fd`).map(Number);
  let limit = 0;
  for (let spare = free ?? 0; spare > 0 || used.some((fd) => fd === limit); limit++) if (!used.includes(limit)) spare--;
  const soft =
    free === null
      ? execFileSync("prlimit", ["--pid", String(pid), "--nofile", "--noheadings", "--output", "HARD"], { encoding: "utf8" }).trim()
      : limit;
  execFileSync("prlimit", ["--pid", String(pid), `--nofile=${soft}:`]);
}

test.skipIf(process.platform !== "linux")(
  "a daemon without file descriptors reports it, on both hosts, and continues (mend 18)",
  async () => {
    await using home = new TestHome();
    await home.run("sleep 600", "--name", "there");
    const pid = await home.daemonPid();
    using client = home.client();
    const codes = new Set<string>();
    // A request may fail at its files, its keeper or its terminal. The client keeps its connection.
    await client.call("getSession", { params: { ref: "there" } });
    for (const host of ["native", "tmux"] as const)
      for (const free of [0, 1, 2, 3, 4, 5, 6]) {
        leave(pid, free);
        const body = { agent: "shell", command: ["true"], host, cwd: home.root, env: { PATH: "/usr/bin:/bin" } };
        await client.call("spawn", { body }).then(
          () => codes.add("none"),
          ({ code }: { code: string }) => codes.add(code),
        );
        leave(pid, null);
      }
    expect(await home.daemonPid()).toBe(pid);
    codes.delete("none");
    expect([...codes]).toEqual(["no_descriptors"]);
    leave(pid, 1);
    const told = await home.cli(["run", "--host", "native", "--", "true"]);
    leave(pid, null);
    expect(told).toMatchObject({ code: 19, stderr: expect.stringContaining("no file descriptors left") });
    expect(told.stderr).toContain("ulimit -n");
    await home.ok(["run", "--name", "after", "--", "true"]);
  },
);

test.skipIf(process.getuid?.() !== 0)("a full disk of the socket directory is reported as such, not as a full home (mend 18)", async () => {
  await using home = new TestHome();
  const directory = home.socketDirectory;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // One inode for the directory itself, and none for a socket.
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m,nr_inodes=1,mode=0700", "tmpfs", directory]);
  try {
    const full = await home.cli(["run", "--", "true"]);
    expect(full).toMatchObject({ code: 19, stderr: expect.stringContaining(`the disk that holds the sockets is full: ${directory}`) });
    expect(full.stderr).toContain(`df ${directory}`);
  } finally {
    execFileSync("umount", ["--lazy", directory]);
  }
  await home.ok(["run", "--", "true"]);
});

test("chat -p refuses a model that the agent does not offer, and lists the offered ones (mend 18)", async () => {
  await using home = new TestHome();
  const once = await home.cli(["chat", "demo", "--model", "no-such", "-p", "say hi"]);
  expect(once).toMatchObject({ code: 6, stdout: "" });
  expect(once.stderr).toMatch(/"no-such"[\s\S]*demo-small, demo-large/);
});
