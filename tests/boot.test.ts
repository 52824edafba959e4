import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { bootFile } from "@holdfast/cli/boot/file";
import type { DaemonStatus } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, HOLDFAST, TestHome } from "./home.ts";

type Boot = { file: string; kind: string; installed: boolean; todo: string[] };

test("boot install writes a unit for this program and home and prints the remaining steps; uninstall removes it", async () => {
  await using home = new TestHome();
  expect(await home.json<Boot>(["boot"])).toMatchObject({ installed: false });
  const done = await home.json<Boot>(["boot", "install"]);
  expect(done).toMatchObject({
    installed: true,
    kind: "systemd",
    file: path.join(home.env.HOME ?? "", ".config/systemd/user/holdfast.service"),
  });
  expect(done.todo.join("\n")).toMatch(/loginctl enable-linger \S+/);
  const unit = readFileSync(done.file, "utf8");
  expect(unit).toContain(`ExecStart="${HOLDFAST}" up`);
  expect(unit).toContain(`Environment="HOLDFAST_HOME=${home.path}"`);
  expect(unit).toContain(`ExecStop="${HOLDFAST}" down`);
  expect(unit).toContain("KillMode=process");
  const status = await home.ok(["boot"]);
  expect(status).toContain("The daemon starts at your first login");
  expect(status).toContain("loginctl enable-linger");
  expect(await home.ok(["boot", "install"])).toContain("Already installed");
  await home.ok(["boot", "uninstall"]);
  expect(existsSync(done.file)).toBe(false);
  expect((await home.cli(["boot", "frobnicate"])).code).toBe(2);
});

test("boot install notifies a running service manager; then only lingering remains to do", async () => {
  await using home = new TestHome();
  const programs = path.join(home.root, "programs");
  const told = path.join(home.root, "told");
  mkdirSync(programs);
  writeFileSync(path.join(programs, "systemctl"), `#!/bin/sh\necho "$*" >> ${told}\n`);
  chmodSync(path.join(programs, "systemctl"), 0o755);
  const { todo } = await home.json<Boot>(["boot", "install"], { env: { PATH: `${programs}:${home.env.PATH}` } });
  expect(readFileSync(told, "utf8")).toBe("--user daemon-reload\n--user enable holdfast.service\n");
  expect(todo.every((line) => line.startsWith("loginctl "))).toBe(true);
});

test("a service uses the home and configuration of the shell that installed it", async () => {
  await using home = new TestHome();
  const env = { XDG_STATE_HOME: path.join(home.root, "state"), XDG_CONFIG_HOME: path.join(home.root, "configuration") };
  const { file } = await home.json<Boot>(["boot", "install"], { env });
  const unit = readFileSync(file, "utf8");
  for (const [name, value] of Object.entries(env)) expect(unit).toContain(`Environment="${name}=${value}"`);
});

test("unusual paths are quoted for each service manager", () => {
  const odd = { program: '/opt/a "b" %n/$x/holdfast', env: { HOLDFAST_HOME: "/home/a & <b>", PATH: "/bin:/a$b" } };
  expect(bootFile("systemd", odd)).toContain('ExecStart="/opt/a \\"b\\" %%n/$x/holdfast" up');
  expect(bootFile("systemd", odd)).toContain('Environment="PATH=/bin:/a$b"');
  expect(bootFile("launchd", odd)).toContain("<string>/home/a &amp; &lt;b&gt;</string>");
  expect(bootFile("launchd", odd)).toContain("<key>RunAtLoad</key><true/>");
});

test("status reports whether the machine is kept awake during work, or why not", async () => {
  await using home = new TestHome();
  const configuration = path.join(home.env.HOME ?? "", ".config/holdfast");
  mkdirSync(configuration, { recursive: true });
  writeFileSync(path.join(configuration, "config.toml"), "keep_awake = true\n");
  const awake = async () => (await home.json<DaemonStatus>(["status"])).keepAwake;
  await home.json(["spawn", "shell", "--name", "sh"]);
  expect(await awake()).toEqual({ active: false, by: null, trouble: null });
  await home.run("exec sleep 1000", "--name", "work");
  // Without a running service manager, as in a container, its program exists and fails.
  const now = await eventually(async () => {
    const state = await awake();
    return state?.active || state?.trouble ? state : undefined;
  });
  expect(await home.ok(["status"])).toContain(now.active ? "keeps the machine awake" : `is not kept awake: ${now.trouble}`);
});
