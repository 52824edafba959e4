/** A home may have any name: a whole session life in each of them. */
import { chownSync, existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import type { DaemonStatus, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { attachTerminal } from "./attached.ts";
import { eventually, TestHome } from "./home.ts";

test.each([
  ["spaces and quotes", `my "home" isn't  plain`],
  ["unicode", "grüße-日本語-🐚"],
  ["characters that tmux expands", "#{session_name} #(touch expanded) %H %Y #S ~"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell must not expand it
  ["characters that a shell expands", "$HOME ${PATH} `touch expanded` $(touch expanded) \\n ; & | < > !"],
  ["glob characters", "[ab]* ?{x,y}"],
  ["a leading dash and an equals sign", "-rf=x:y,z"],
  ["a path too deep for a socket", path.join(...Array.from({ length: 12 }, (_, i) => `${i}-a-rather-long-name-of-a-directory`))],
])("a session runs from start to stop in a home with %s in its path", async (_, name) => {
  await using home = new TestHome(name);
  const { id, pid } = await home.run("echo $$ begins; trap 'echo ends; exit 4' TERM; while :; do read -r line; done", "--name", "worker");
  expect(await home.json<DaemonStatus>(["status"])).toMatchObject({ home: home.path });
  expect((await home.json<Session[]>(["ls"])).map(({ name, status }) => ({ name, status }))).toEqual([
    { name: "worker", status: "working" },
  ]);
  await eventually(async () => (await home.ok(["logs", "worker"])) === `${pid} begins\n`);
  {
    using terminal = await attachTerminal(home, { ref: "worker" });
    await terminal.shows(`${pid} begins`);
    terminal.keys("C-\\");
    await terminal.shows("detached; it keeps running");
  }
  await home.killDaemon();
  expect(await home.session("worker")).toMatchObject({ status: "working", pid });
  await home.ok(["stop", "worker"]);
  expect(await home.session("worker")).toMatchObject({ status: "stopped", exit: { code: 4, signal: null } });
  expect(await home.ok(["logs", "--raw", id])).toBe(`${pid} begins\r\nends\r\n`);
  // Nothing was written outside of it, and nothing in its name was executed.
  expect(readdirSync(home.root).sort()).toEqual([name.split("/")[0] ?? "", "user"].sort());
  for (const place of [home.root, home.path, "/"]) expect(existsSync(path.join(place, "expanded"))).toBe(false);
});

test("input and Holdfast's keys work in a home whose path tmux would expand (mend 24)", async () => {
  await using home = new TestHome("a#{x}#(touch expanded) %H 'b\"");
  await home.run("stty -echo; echo ready; while :; do read -r line && echo got $line; done", "--name", "worker");
  using terminal = await attachTerminal(home, { ref: "worker" });
  await home.ok(["send", "worker", "one line"]);
  await terminal.shows("got one line");
  terminal.keys("C-]");
  await terminal.shows("no other session waits for a person");
  terminal.keys("C-\\");
  await terminal.shows("detached; it keeps running");
  for (const place of [home.root, home.path, "/"]) expect(existsSync(path.join(place, "expanded"))).toBe(false);
});

test("the same home by another path is the same home", async () => {
  await using home = new TestHome();
  await home.run("sleep 1000", "--name", "worker");
  const link = path.join(home.root, "link");
  symlinkSync(home.path, link);
  const env = { HOLDFAST_HOME: link };
  expect(await home.json<Session[]>(["ls"], { env })).toMatchObject([{ name: "worker" }]);
  expect((await home.json<DaemonStatus>(["status"], { env })).pid).toBe(await home.daemonPid());
});

test("a relative home is refused, with a hint at the absolute one", async () => {
  await using home = new TestHome();
  const { code, stderr } = await home.cli(["ls"], { env: { HOLDFAST_HOME: "some/home" } });
  expect(code).toBe(14);
  expect(stderr).toContain(`set it to an absolute path: HOLDFAST_HOME=${home.root}/some/home`);
  expect(existsSync(path.join(home.root, "some"))).toBe(false);
  // A relative XDG directory is ignored.
  const env = { HOLDFAST_HOME: "", XDG_STATE_HOME: "state" };
  expect((await home.json<DaemonStatus>(["status"], { env })).home).toBe(path.join(home.env.HOME ?? "", ".local/state/holdfast"));
  await home.ok(["down"], { env });
});

test("an impossible home is refused with a reason", async () => {
  await using home = new TestHome();
  const refused = async (wanted: string, why: string) => {
    const { code, stdout, stderr } = await home.cli(["ls"], { env: { HOLDFAST_HOME: wanted } });
    expect({ code, stdout, stderr }).toEqual({ code: 14, stdout: "", stderr: expect.stringContaining(why) });
  };
  await refused(`${home.root}/with\nnewline`, "control characters");
  await refused("/dev/null/home", "cannot create the home");
  await refused("/dev/null", "is not a directory");
  if (process.getuid?.() === 0) {
    const another = path.join(home.root, "another");
    mkdirSync(another, { mode: 0o700 });
    chownSync(another, 65534, 65534);
    await refused(another, "belongs to user id 65534, not to you");
  }
  await home.ok(["status"]);
});
