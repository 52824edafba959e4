/** A session has its caller's whole environment, and no other. */
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { DaemonStatus, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { environmentOf } from "./proc.ts";

test("a secret of the first caller is in no later session, no keeper and not in the daemon", async () => {
  await using home = new TestHome();
  const secret = "sk-of-the-first-caller";
  const env = { OPENAI_API_KEY: secret, HTTPS_PROXY: `http://user:${secret}@proxy` };
  const first = await home.json<Session>(["run", "--", "sh", "-c", "env; sleep 1000"], { env });
  await eventually(async () => (await home.ok(["logs", "--raw", first.id])).includes(`OPENAI_API_KEY=${secret}\r\n`));

  const second = await home.run("env; echo done; sleep 1000");
  await eventually(async () => (await home.ok(["logs", "--raw", second.id])).includes("done"));
  expect(await home.ok(["logs", "--raw", second.id])).not.toContain(secret);
  expect(environmentOf(Number(second.pid))).not.toHaveProperty("OPENAI_API_KEY");

  const { pid, tmux } = await home.json<DaemonStatus>(["status"]);
  for (const keeper of [pid, Number(tmux?.pid)]) expect(JSON.stringify(environmentOf(keeper))).not.toContain(secret);
  const socket = path.join(home.socketDirectory, "tmux.sock");
  for (const scope of [["-g"], ["-t", "=holdfast:"], ["-t", `=${second.id}-1:`]]) {
    expect(execFileSync("tmux", ["-S", socket, "show-environment", ...scope], { encoding: "utf8" })).not.toContain(secret);
  }
  // Files with the environment are private to their owner, and the process list does not show it.
  const session = path.join(home.path, "sessions", first.id);
  for (const file of ["env", "runs/1/launch"]) expect(statSync(path.join(session, file)).mode & 0o777).toBe(0o600);
  expect(execFileSync("ps", ["-ww", "-eo", "args"], { encoding: "utf8", maxBuffer: 1 << 26 })).not.toContain(secret);
  expect(readFileSync(path.join(home.path, "daemon.log"), "utf8")).not.toContain(secret);
});

test("values of any content reach the program unchanged", async () => {
  await using home = new TestHome();
  const values = {
    NEWLINES: "one\ntwo\n\nthree\n",
    QUOTES: `it's "quoted" \`and\` \\back\\slashed\\`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell must not expand it
    EXPANSIONS: "$HOME ${PATH} $(touch /nowhere) #{pid} %H *",
    UNICODE: "grüße 日本語 🐚 e\u0301",
    CONTROL: "\x01\x1b[31m\ttab\rreturn\x7f",
    EMPTY: "",
    SPACES: "  leading and trailing  ",
    LARGE: "x".repeat(100_000),
    lower_case: "kept",
    _UNDERSCORE: "kept",
  };
  const target = path.join(home.root, "environment");
  const { id } = await home.json<Session>(["run", "--env", "GIVEN=by flag = yes", "--", "sh", "-c", `env -0 > '${target}'`], {
    env: values,
  });
  expect(await home.ended(id)).toMatchObject({ status: "done" });
  const seen = entriesOf(readFileSync(target, "utf8"));
  expect(seen).toMatchObject({ ...values, GIVEN: "by flag = yes" });
  expect(seen.HOME).toBe(home.env.HOME);
  expect(seen.PATH).toBe(home.env.PATH);
});

test("the caller's TMUX and HOLDFAST variables are replaced by the session's own", async () => {
  await using home = new TestHome();
  const { token } = await home.json<{ token: string }>(["token", "create", "--scope", "driver"]);
  const env = {
    TMUX: "/tmp/somebody,1,2",
    TMUX_PANE: "%7",
    TMUX_TMPDIR: "/tmp/somebody",
    HOLDFAST_RUN: "aaaaaaaaaa-1",
    HOLDFAST_SESSION: "aaaaaaaaaa",
    HOLDFAST_TOKEN: token,
    HOLDFAST_DEBUG: "1",
  };
  const target = path.join(home.root, "environment");
  const { id } = await home.json<Session>(["run", "--", "sh", "-c", `env -0 > '${target}'`], { env });
  expect(await home.ended(id)).toMatchObject({ status: "done" });
  const seen = entriesOf(readFileSync(target, "utf8"));
  expect(Object.keys(seen).filter((name) => name.startsWith("TMUX"))).toEqual([]);
  expect(seen).toMatchObject({ HOLDFAST_HOME: home.path, HOLDFAST_SESSION: id, HOLDFAST_RUN: `${id}-1` });
  expect(seen).not.toHaveProperty("HOLDFAST_DEBUG");
  expect(seen.HOLDFAST_TOKEN).toMatch(new RegExp(`^hfs_${id}-1_`));
});

test("a session adds only its own terminal and Holdfast variables to the caller's environment", async () => {
  await using home = new TestHome();
  const target = path.join(home.root, "environment");
  const { LANG: _lang, USER: _user, HOLDFAST_PAGER: _pager, ...env } = home.env;
  const { id } = await startWith(home, env, `env -0 > '${target}'`);
  expect(await home.ended(id)).toMatchObject({ status: "done" });
  const names = Object.keys(entriesOf(readFileSync(target, "utf8")));
  const added = names.filter((name) => !(name in env) && !name.startsWith("HOLDFAST_"));
  // PWD, OLDPWD and _ come from the shell that ran `env`.
  expect(added.filter((name) => !["PWD", "OLDPWD", "_", "SHLVL"].includes(name))).toEqual([]);
  expect(Object.keys(env).filter((name) => !names.includes(name))).toEqual([]);
});

/** Uses the SDK: the command line would add the environment of this test. */
async function startWith(home: TestHome, env: Record<string, string>, script: string): Promise<Session> {
  await home.ok(["up"]);
  using client = home.client();
  return client.call("spawn", { body: { agent: "shell", cwd: "/", env, command: ["sh", "-c", script] } });
}

function entriesOf(nulSeparated: string): Record<string, string> {
  const entries = nulSeparated.split("\0").slice(0, -1);
  return Object.fromEntries(entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]));
}
