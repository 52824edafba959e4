/**
 * Two users of one machine share one daemon through a second socket, always with a token. Skipped without root, because only root can
 * create users.
 */
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { type DaemonStatus, HOSTS, type Session, type Sharing } from "@holdfast/contract";
import { openHome, userName } from "@holdfast/platform";
import { describe, expect, test } from "vitest";
import { attachTerminal } from "./attached.ts";
import { eventually, HOLDFAST, ROOT, TestHome } from "./home.ts";
import { CAN_MAKE_USERS, OtherUser } from "./other-user.ts";
import { Terminal } from "./terminal.ts";

const ME = `user:${userName()}`;
const PROGRAM = "trap 'stty size' WINCH; stty -echo; echo ready; while :; do read -r line && echo got $line; done";

/** Shares the home with the user, who gets a token of that scope. */
async function letIn(home: TestHome, user: OtherUser, scope = "driver"): Promise<Sharing> {
  const { share } = await home.json<{ share: Sharing }>(["up", "--share", user.name]);
  const { token } = await home.json<{ token: string }>(["token", "create", "--scope", scope, "--name", user.name]);
  Object.assign(user.env, { HOLDFAST_URL: share.url, HOLDFAST_TOKEN: token });
  return share;
}

function attach(user: OtherUser, ...flags: string[]): Promise<Terminal> {
  const env = { PATH: user.env.PATH ?? "", TERM: "xterm-256color", LANG: "C.UTF-8" };
  const line = `cd /; ${user.words(HOLDFAST, "attach", ...flags, "chat").join(" ")}; echo code=$?`;
  return new Terminal({ env, columns: 70, rows: 18 }).after((terminal) => terminal.command(line));
}

describe.runIf(CAN_MAKE_USERS)("with another user of this machine, created for the test", () => {
  test("another user has no access until the home is shared, and then only with a token (SYM-10 resume)", async () => {
    await using home = new TestHome();
    await using user = new OtherUser();
    await home.run(PROGRAM, "--name", "chat");
    const { sharedDirectory, daemonSocket } = openHome(home.env);
    Object.assign(user.env, { HOLDFAST_URL: `unix:${path.join(sharedDirectory, "daemon.sock")}` });
    expect(user.cli("ls")).toMatchObject({ code: 10, stderr: expect.stringContaining("holdfast up --share GROUP") });
    Object.assign(user.env, { HOLDFAST_URL: `unix:${daemonSocket}` });
    expect(user.cli("ls").code).not.toBe(0);

    const { socket, url } = await letIn(home, user);
    expect(lstatSync(socket).mode & 0o777).toBe(0o660);
    expect(lstatSync(path.dirname(socket)).mode & 0o777).toBe(0o750);
    expect(await home.ok(["status"])).toContain(`It is shared with the users of ${user.name} who have a token: HOLDFAST_URL=${url}`);
    expect(user.cli("ls").stdout).toMatch(/chat +working/);
    expect(JSON.parse(user.cli("status", "--json").stdout)).toMatchObject({ actor: `token:${user.name}`, scope: "driver" });
    const { HOLDFAST_TOKEN: token = "" } = user.env;
    user.env.HOLDFAST_TOKEN = "";
    expect(user.cli("ls")).toMatchObject({ code: 22, stdout: "" });

    // The next daemon shares the home again; --no-share ends it.
    user.env.HOLDFAST_TOKEN = token;
    await home.killDaemon();
    await home.ok(["ls"]);
    expect(user.cli("ls").stdout).toContain("chat");
    await home.ok(["up", "--no-share"]);
    expect(user.cli("ls")).toMatchObject({ code: 10 });
  });

  test("a shared directory that another user created is refused", async () => {
    await using home = new TestHome();
    await using user = new OtherUser();
    const { sharedDirectory } = openHome(home.env);
    await home.ok(["up"]);
    const [file = "", ...words] = user.words("mkdir", sharedDirectory);
    const { execFileSync } = await import("node:child_process");
    execFileSync(file, words, { cwd: "/" });
    expect(await home.cli(["up", "--share", user.name])).toMatchObject({
      code: 14,
      stderr: expect.stringContaining("not a directory that you own"),
    });
    execFileSync("rmdir", [sharedDirectory]);
    expect(await home.cli(["up", "--share", "no-such-group"])).toMatchObject({ code: 2 });
  });

  test("when sharing with another group fails, the home stays shared with the previous one", async () => {
    await using home = new TestHome();
    await using user = new OtherUser();
    await letIn(home, user);
    // Blocks writing to the file.
    const file = path.join(home.path, "share.json");
    rmSync(file);
    mkdirSync(file);
    expect((await home.cli(["up", "--share", "root"])).code).not.toBe(0);
    expect(user.cli("status").code).toBe(0);
    expect(await home.ok(["status"])).toContain(`shared with the users of ${user.name}`);
    rmSync(file, { recursive: true });
  });

  describe.each(HOSTS)("on the %s host", (host) => {
    test("another user attaches through the daemon, observes, is given control and drives (SYM-10 resume)", async () => {
      await using home = new TestHome();
      await using user = new OtherUser();
      await home.run(PROGRAM, "--name", "chat", "--host", host);
      await letIn(home, user);
      using mine = host === "tmux" ? await attachTerminal(home, { ref: "chat" }) : new Terminal({ env: home.env });
      if (host === "native") await mine.command(`${HOLDFAST} attach chat`);
      await mine.shows(/^(?!.*attach chat)[\s\S]*ready/);
      using theirs = await attach(user);
      await theirs.shows(`read only · ${ME} drives`);
      const { attachments } = await home.until("chat", (session: Session) => session.attachments.length === 2);
      expect(attachments[1]).toMatchObject({
        principal: `token:${user.name}`,
        role: "observer",
        terminal: expect.stringMatching(/^\/dev\//),
      });
      theirs.line("not yet");
      mine.line("mine");
      await theirs.shows("got mine");

      await home.ok(["control", "give", "chat"]);
      await home.until("chat", (session: Session) => session.attachments[1]?.role === "driver");
      await theirs.shows(host === "tmux" ? "17 70" : "18 70");
      theirs.line("theirs");
      await mine.shows("got theirs");
      expect(await home.ok(["logs", "chat", "--raw"])).not.toContain("not yet");
      theirs.keys("C-\\");
      await theirs.shows("chat: detached; it keeps running");
      await theirs.shows("code=0");
      await home.until("chat", (session: Session) => session.attachments.length === 1);
    });

    test("an observer cannot type, and is disconnected when its token is revoked (SYM-10 resume)", async () => {
      await using home = new TestHome();
      await using user = new OtherUser();
      await home.run(PROGRAM, "--name", "chat", "--host", host);
      await letIn(home, user, "observer");
      using theirs = await attach(user, "--take");
      await theirs.shows(/nobody drives/);
      theirs.line("typed by an observer");
      await home.ok(["send", "chat", "typed by the owner"]);
      await theirs.shows("got typed by the owner");
      await home.ok(["token", "revoke", user.name]);
      await theirs.shows("code=");
      await eventually(async () => (await home.session("chat")).attachments.length === 0);
      expect(await home.ok(["logs", "chat", "--raw"])).not.toContain("observer");
    });
  });
});

test.runIf(CAN_MAKE_USERS)("the daemon starts even if another user has taken the name of its socket directory (mend 8)", async () => {
  await using user = new OtherUser();
  const taken = `/tmp/holdfast-${user.uid}`;
  mkdirSync(taken, { mode: 0o777 });
  try {
    const said = (...args: string[]) => {
      const { code, stdout, stderr } = user.cli(...args);
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
      return stdout;
    };
    // Builds the program first, if necessary.
    spawnSync(HOLDFAST, ["version"]);
    const script = `${HOLDFAST} show --json $HOLDFAST_SESSION > seen; exec sleep 1000`;
    for (const host of ["tmux", "native"]) {
      said("run", "--host", host, "--name", host, "--", "sh", "-c", script);
      const seen = path.join(user.directory, "seen");
      await eventually(() => existsSync(seen) && readFileSync(seen, "utf8").includes(`"name":"${host}"`));
    }
    const { socket } = JSON.parse(said("status", "--json")) as DaemonStatus;
    expect(socket).toMatch(new RegExp(`^${taken}-\\w{6}/[0-9a-f]{16}/daemon\\.sock$`));
    const place = path.dirname(path.dirname(socket));
    expect(statSync(place).mode & 0o777).toBe(0o700);
    expect(statSync(place).uid).toBe(user.uid);
    expect(readdirSync(taken)).toEqual([]);
    // The next daemon finds the running sessions, even if the name is free again; a program with the SDK does too.
    process.kill((JSON.parse(said("status", "--json")) as DaemonStatus).pid, "SIGKILL");
    rmSync(taken, { recursive: true });
    const running = JSON.parse(said("ls", "--json")) as Session[];
    expect(running.map(({ name, endedAt }) => ({ name, endedAt }))).toEqual(["tmux", "native"].map((name) => ({ name, endedAt: null })));
    const program = `import { connect } from "@holdfast/sdk"; const h = await connect(); console.log((await h.status()).sessions.running); h.close()`;
    const [file = "", ...words] = user.words(process.execPath, "--input-type=module", "-e", program);
    expect(spawnSync(file, words, { cwd: ROOT, encoding: "utf8" })).toMatchObject({ stdout: "2\n" });
    said("down", "--all");
    rmSync(place, { recursive: true });
  } finally {
    user.cli("down", "--all");
    rmSync(taken, { recursive: true, force: true });
  }
});
