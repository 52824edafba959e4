import { spawn } from "node:child_process";
import { isSameProcess } from "@holdfast/platform";
import { describe, expect, test } from "vitest";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { Sshd } from "./sshd.ts";
import { Terminal } from "./terminal.ts";

/** Runs a command over ssh to its end and returns its output. */
function over(sshd: Sshd, remote: string): Promise<string> {
  const [file = "", ...args] = sshd.command(remote);
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    let complaint = "";
    child.stdout.on("data", (chunk) => {
      said += chunk;
    });
    child.stderr.on("data", (chunk) => {
      complaint += chunk;
    });
    child.on("close", (code) => (code === 0 ? resolve(said) : reject(new Error(`ssh ended with ${code}: ${complaint}`))));
  });
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
}

describe.each(["tmux", "native"])("over ssh, on the %s host", (host) => {
  test("a session keeps running after the login that started it has ended (SYM-01 hosts)", async () => {
    await using home = new TestHome();
    await using sshd = await Sshd.start(home.env);
    const script = "i=0; while :; do i=$((i+1)); echo tick $i; sleep 0.1; done";
    const id = (await over(sshd, `${HOLDFAST} run --host ${host} --name ticks -- sh -c '${script}'`)).trim();
    await eventually(() => sshd.logins().length === 0);
    const before = await home.session(id);
    const seen = (await home.ok(["logs", id])).trim().split("\n").length;
    await eventually(async () => (await home.ok(["logs", id])).trim().split("\n").length > seen + 5);
    expect(await home.session(id)).toMatchObject({ status: "working", pid: before.pid });
    expect(await over(sshd, `${HOLDFAST} ls`)).toContain("ticks");
  });

  test("a broken connection leaves an attached session unchanged, and a new login finds it (SYM-01 hosts)", async () => {
    await using home = new TestHome();
    await using sshd = await Sshd.start(home.env);
    const session = await home.json<{ pid: number }>([
      "run",
      "--host",
      host,
      "--name",
      "chat",
      "--",
      "sh",
      "-c",
      "stty -echo; while read -r line; do echo got $line; done",
    ]);
    using terminal = new Terminal({ env: home.env });
    await terminal.command(quoted(sshd.command(`TERM=xterm-256color ${HOLDFAST} attach chat`, "-tt")));
    // Typed input is echoed on either host once the terminal is attached.
    await eventually(() => sshd.logins().length > 0);
    await eventually(() => {
      terminal.line("hello");
      return terminal.screen().includes("got hello");
    });
    // Breaks the connection: both of its ends are killed at once.
    for (const { pid, start } of sshd.logins()) if (isSameProcess(pid, start)) process.kill(pid, "SIGKILL");
    await terminal.shows("closed by remote host");
    expect(await home.session("chat")).toMatchObject({ status: "working", pid: session.pid });
    using again = new Terminal({ env: home.env });
    await again.command(quoted(sshd.command(`TERM=xterm-256color ${HOLDFAST} attach chat`, "-tt")));
    await again.shows("got hello");
    await eventually(() => {
      again.line("still");
      return again.screen().includes("got still");
    });
  });
});
