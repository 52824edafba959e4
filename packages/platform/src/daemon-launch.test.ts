import { existsSync, mkdirSync, mkdtempDisposableSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { EXIT_ALREADY_RUNNING, launchDaemon, minimalEnvironment } from "./daemon-launch.ts";
import { type Home, openHome } from "./home.ts";
import { inspect, signalProcess } from "./process.ts";

function having(program: string): { home: Home; program: string; said(name: string): string } {
  const directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const home = openHome({ HOLDFAST_HOME: join(directory.path, "home") });
  const file = join(directory.path, "daemon.mjs");
  writeFileSync(file, `import fs from "node:fs"; const HERE = ${JSON.stringify(directory.path)};\n${program}`);
  onTestFinished(() => {
    const pid = join(directory.path, "pid");
    const info = existsSync(pid) ? inspect(Number(readFileSync(pid, "utf8"))) : undefined;
    if (info) signalProcess(info.pid, info.start, "SIGKILL");
    directory.remove();
  });
  return { home, program: file, said: (name) => readFileSync(join(directory.path, name), "utf8") };
}

const STAY = 'fs.writeFileSync(HERE + "/pid", String(process.pid)); setInterval(() => {}, 1000);';

test("the daemon's environment keeps only the caller's variables for files and the session bus", () => {
  const home = openHome({ HOLDFAST_HOME: mkdtempHome() });
  const env = minimalEnvironment(home, {
    HOME: "/user",
    USER: "me",
    TZ: "UTC",
    PATH: "/mine",
    SECRET: "s",
    HTTP_PROXY: "p",
    VIRTUAL_ENV: "v",
    TMUX: "t",
    HOLDFAST_RUN: "r",
    LD_PRELOAD: "l",
  });
  expect(env).toEqual({
    HOME: "/user",
    USER: "me",
    TZ: "UTC",
    PATH: expect.stringContaining("/usr/bin"),
    LANG: expect.stringContaining("UTF-8"),
    SHELL: "/bin/sh",
    HOLDFAST_HOME: home.path,
  });
});

function mkdtempHome(): string {
  const directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  onTestFinished(() => directory.remove());
  return directory.path;
}

test("a ready daemon runs in its own process session and in the root directory", async () => {
  const { home, program, said } = having(
    `${STAY} fs.writeFileSync(HERE + "/seen", JSON.stringify({ cwd: process.cwd(), env: process.env })); fs.writeSync(3, "ready\\n");`,
  );
  vi.stubEnv("SECRET_OF_THE_CALLER", "x");
  await launchDaemon(home, program);
  const pid = Number(said("pid"));
  expect(inspect(pid)).toMatchObject({ pid, session: pid, tty: "" });
  const seen = JSON.parse(said("seen")) as { cwd: string; env: Record<string, string> };
  expect(seen.cwd).toBe("/");
  expect(seen.env).not.toHaveProperty("SECRET_OF_THE_CALLER");
  expect(seen.env.HOLDFAST_HOME).toBe(home.path);
});

test("launching succeeds if another daemon was faster", async () => {
  const { home, program } = having(`process.exit(${EXIT_ALREADY_RUNNING});`);
  await launchDaemon(home, program);
});

test("a daemon that cannot run reports why, however fast it ends", async () => {
  const { home, program } = having('fs.writeSync(3, "the disk is full\\n"); process.exit(1);');
  await expect(launchDaemon(home, program)).rejects.toMatchObject({
    code: "daemon_unreachable",
    message: "the daemon did not start: the disk is full",
    hint: `see ${home.log}`,
  });
});

test("an error from the daemon keeps its code and hint", async () => {
  const body = JSON.stringify({ code: "disk_full", message: "the disk is full", hint: "make room" });
  const { home, program } = having(`fs.writeSync(3, ${JSON.stringify(`${body}\n`)}); process.exit(1);`);
  await expect(launchDaemon(home, program)).rejects.toMatchObject({
    code: "disk_full",
    message: "the daemon did not start: the disk is full",
    hint: "make room",
  });
});

test("a crashed daemon is reported with its exit, and its last output is in the log", async () => {
  const crash = having('process.stderr.write("last words\\n"); process.exit(9);');
  await expect(launchDaemon(crash.home, crash.program)).rejects.toMatchObject({
    message: "the daemon did not start: it ended with code 9",
  });
  expect(readFileSync(crash.home.log, "utf8")).toBe("last words\n");
  const killed = having('process.kill(process.pid, "SIGKILL");');
  await expect(launchDaemon(killed.home, killed.program)).rejects.toMatchObject({
    message: "the daemon did not start: it ended with SIGKILL",
  });
});

test("a home without space for a log is reported as unusable", async () => {
  const { home, program } = having("");
  rmSync(home.path, { recursive: true });
  writeFileSync(home.path, "");
  await expect(launchDaemon(home, program)).rejects.toMatchObject({ code: "home_unusable" });
  rmSync(home.path);
  mkdirSync(home.log, { recursive: true });
  await expect(launchDaemon(home, program)).rejects.toMatchObject({ code: "home_unusable" });
});

test("a long log is rotated and kept once", async () => {
  const { home, program } = having(`${STAY} console.log("new words"); fs.writeSync(3, "ready\\n");`);
  writeFileSync(home.log, "old words".padEnd((8 << 20) + 1));
  writeFileSync(`${home.log}.1`, "older words");
  await launchDaemon(home, program);
  await vi.waitFor(() => expect(readFileSync(home.log, "utf8")).toBe("new words\n"));
  expect(readFileSync(`${home.log}.1`, "utf8")).toMatch(/^old words/);
});
