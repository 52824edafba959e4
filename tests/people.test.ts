/** Who is at a session, who of them drives, and whose it is; with real terminals, on both hosts. */
import type { Attachment, Session } from "@holdfast/contract";
import { HOSTS, type HostName } from "@holdfast/contract";
import { allProcesses, userName } from "@holdfast/platform";
import { describe, expect, test } from "vitest";
import { openTerminal } from "./attached.ts";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import type { Terminal } from "./terminal.ts";

const ME = `user:${userName()}`;

/** Answers each line, and tells its size when that changes. */
const PROGRAM = "trap 'stty size' WINCH; stty -echo; echo ready; while :; do read -r line && echo got $line; done";

function start(home: TestHome, host: HostName, name = "chat"): Promise<Session> {
  return home.run(PROGRAM, "--host", host, "--name", name);
}

/** A terminal on the session, once it shows what the program said. */
async function attached(home: TestHome, flags = "", size: { columns?: number; rows?: number } = {}, env = ""): Promise<Terminal> {
  const terminal = openTerminal(home, size);
  terminal.line(`${env} holdfast attach chat ${flags}`);
  await terminal.shows(/^(?!.*holdfast attach chat)[\s\S]*(ready|got)/);
  return terminal;
}

function attachments(home: TestHome, count: number, ref = "chat"): Promise<Attachment[]> {
  return eventually(async () => {
    const { attachments } = await home.session(ref);
    return attachments.length === count && attachments;
  });
}

async function eventsOf(home: TestHome, ...types: string[]): Promise<{ type: string; data: Record<string, unknown> }[]> {
  const lines = (await home.ok(["events", "--json"])).trim().split("\n");
  return lines.map((line) => JSON.parse(line)).filter(({ type }) => types.includes(type));
}

describe.each(HOSTS)("on the %s host", (host) => {
  test("whoever attaches is known by principal, role, terminal and since when, and noticed when they leave (SYM-10 resume)", async () => {
    await using home = new TestHome();
    await start(home, host);
    const before = Date.now();
    using terminal = await attached(home, "", {}, "SSH_CONNECTION='192.0.2.7 1 192.0.2.1 22'");
    const [mine] = await attachments(home, 1);
    expect(mine).toMatchObject({ principal: ME, role: "driver", from: "192.0.2.7" });
    expect(mine?.terminal).toMatch(/^\/dev\/pts\/\d+$/);
    expect(Date.parse(mine?.since ?? "")).toBeGreaterThanOrEqual(before);
    expect(await home.ok(["show", "chat"])).toMatch(
      new RegExp(`^attached +${ME} drives, for .*, on /dev/pts/\\d+ from 192\\.0\\.2\\.7$`, "m"),
    );
    expect(await home.ok(["ls", "--wide"])).toMatch(new RegExp(`ATTACHED[\\s\\S]*${ME}`));
    terminal.keys("C-\\");
    await attachments(home, 0);
    const [came, left] = await eventsOf(home, "session.attached", "session.detached");
    expect(came).toMatchObject({ type: "session.attached", data: { id: mine?.id, principal: ME, role: "driver" } });
    expect(left).toMatchObject({ type: "session.detached", data: { id: mine?.id, principal: ME } });
  });

  test("a terminal that dies without a word is noticed at once", async () => {
    await using home = new TestHome();
    await start(home, host);
    using terminal = await attached(home);
    await attachments(home, 1);
    const children = [...allProcesses().values()].filter(({ parent }) => parent === terminal.shellPid);
    expect(children).toHaveLength(1);
    const began = performance.now();
    for (const { pid } of children) process.kill(pid, "SIGKILL");
    await attachments(home, 0);
    // Sooner than the look that is made every five seconds for those that do not tell.
    expect(performance.now() - began).toBeLessThan(4000);
  });

  test("a daemon that starts finds who stayed, who left and who came while none ran", async () => {
    await using home = new TestHome();
    await start(home, host);
    using stays = await attached(home);
    using leaves = await attached(home, "--read-only");
    const [first, second] = await attachments(home, 2);
    await home.killDaemon();
    leaves.keys("C-\\");
    await leaves.shows(/detached/);
    // Any command starts the next daemon.
    const [still] = await attachments(home, 1);
    expect(still).toEqual(first);
    const gone = await eventsOf(home, "session.detached");
    expect(gone.map(({ data }) => data.id)).toEqual([second?.id]);
    stays.line("hello");
    await stays.shows("got hello");
  });

  test("the end of a session ends its attachments", async () => {
    await using home = new TestHome();
    await start(home, host);
    using _terminal = await attached(home);
    await attachments(home, 1);
    await home.ok(["stop", "chat", "--grace", "1s"]);
    expect((await home.session("chat")).attachments).toEqual([]);
    await eventually(async () => (await eventsOf(home, "session.detached")).length === 1);
  });
});

test("a terminal that moves from one session to another is at the other one, as who it was", async () => {
  await using home = new TestHome();
  await start(home, "tmux");
  await home.json(["spawn", "shell", "--name", "other"]);
  const token = (await home.json<{ token: string }>(["token", "create", "--scope", "owner", "--name", "ada"])).token;
  using terminal = openTerminal(home);
  terminal.line(`HOLDFAST_TOKEN=${token} holdfast attach other`);
  const [before] = await attachments(home, 1, "other");
  expect(before?.principal).toBe("token:ada");
  terminal.line(`HOLDFAST_TOKEN= ${HOLDFAST} attach chat`);
  expect(await attachments(home, 1)).toMatchObject([{ principal: "token:ada", role: "driver" }]);
  await attachments(home, 0, "other");
});
