/** Attachments of a session, its driver and its owner; with real terminals, on both hosts. */
import type { AnyEvent, Attachment, Session } from "@holdfast/contract";
import { HOSTS, type HostName } from "@holdfast/contract";
import { allProcesses, userName } from "@holdfast/platform";
import { describe, expect, test } from "vitest";
import { barOf, openTerminal } from "./attached.ts";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import type { Terminal } from "./terminal.ts";

const ME = `user:${userName()}`;

/** Answers each line, and prints its size on a resize. */
const PROGRAM = "trap 'stty size' WINCH; stty -echo; echo ready; while :; do read -r line && echo got $line; done";

/** Waits until the program answers: an earlier resize would be missed. */
async function start(home: TestHome, host: HostName, name = "chat"): Promise<Session> {
  const session = await home.run(PROGRAM, "--host", host, "--name", name);
  await home.ok(["wait", name, "--for", "output=ready"]);
  return session;
}

/** A terminal on the session, once it shows the program's output. */
function attached(home: TestHome, flags = "", size: { columns?: number; rows?: number } = {}, env = ""): Promise<Terminal> {
  return openTerminal(home, size).after(async (terminal) => {
    await terminal.command(`${env} holdfast attach chat ${flags}`);
    await terminal.shows(/^(?!.*holdfast attach chat)[\s\S]*(ready|got)/);
  });
}

function attachments(home: TestHome, count: number, ref = "chat"): Promise<Attachment[]> {
  return eventually(async () => {
    const { attachments } = await home.session(ref);
    return attachments.length === count && attachments;
  });
}

async function eventsOf(home: TestHome, ...types: string[]): Promise<AnyEvent[]> {
  const lines = (await home.ok(["events", "--json"])).trim().split("\n");
  return lines.map((line) => JSON.parse(line)).filter(({ type }) => types.includes(type));
}

async function token(home: TestHome, name: string, scope: string): Promise<string> {
  return (await home.json<{ token: string }>(["token", "create", "--scope", scope, "--name", name])).token;
}

describe.each(HOSTS)("on the %s host", (host) => {
  test("each attachment is listed with principal, role, terminal and time, and its end is noticed (SYM-10 resume)", async () => {
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

  test("a terminal that dies silently is noticed at once", async () => {
    await using home = new TestHome();
    await start(home, host);
    using terminal = await attached(home);
    await attachments(home, 1);
    const children = [...allProcesses().values()].filter(({ parent }) => parent === terminal.shellPid);
    expect(children).toHaveLength(1);
    const began = Date.now();
    for (const { pid } of children) process.kill(pid, "SIGKILL");
    await attachments(home, 0);
    const [left] = await eventsOf(home, "session.detached");
    // Sooner than the five-second check for attachments that report nothing.
    expect(Date.parse(left?.at ?? "") - began).toBeLessThan(4000);
  });

  test("a new daemon finds the attachments that stayed, left or came while none ran (SYM-10 resume)", async () => {
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

  test("one terminal drives, the others observe, cropped to their own size, and resize nothing (SYM-10 resume)", async () => {
    await using home = new TestHome();
    await start(home, host);
    using driver = await attached(home, "", { columns: 100, rows: 30 });
    const size = host === "tmux" ? "29 100" : "30 100";
    await driver.shows(size);
    using observer = await attached(home, "", { columns: 60, rows: 12 });
    await observer.shows(`read only · ${ME} drives`);
    await driver.shows("1 looks on");
    expect((await attachments(home, 2)).map(({ role }) => role)).toEqual(["driver", "observer"]);
    observer.line("from-the-observer");
    if (host === "native") await observer.shows(`${ME} drives; request control: holdfast control r`);
    observer.resize(120, 10);
    await observer.shows(/holdfast control request chat · Ctrl\+\\ detaches/);
    observer.resize(50, 10);
    driver.line("from-the-driver");
    await observer.shows("got from-the-driver");
    observer.keys("C-\\");
    await observer.shows(/detached/);
    const said = await home.ok(["logs", "chat", "--raw"]);
    expect(said).not.toContain("from-the-observer");
    expect(said.match(/^\d+ \d+(?=\r)/gm)).toEqual([size]);
  });

  test("the longest-waiting terminal drives when the driver leaves; a read-only one does not (SYM-10 resume)", async () => {
    await using home = new TestHome();
    await start(home, host);
    using first = await attached(home);
    using reader = await attached(home, "--read-only");
    using waits = await attached(home, "", { columns: 80, rows: 20 });
    await attachments(home, 3);
    first.keys("C-\\");
    await eventually(async () => (await home.session("chat")).attachments.map(({ role }) => role).join() === "observer,driver");
    await waits.shows("you drive now");
    await waits.shows(host === "tmux" ? "19 80" : "20 80");
    waits.line("mine");
    await reader.shows("got mine");
    waits.keys("C-\\");
    await reader.shows("nobody drives");
    reader.line("not-mine");
    expect((await attachments(home, 1)).map(({ role }) => role)).toEqual(["observer"]);
    expect(await eventsOf(home, "session.control_changed")).toMatchObject([
      { data: { from: ME, how: "left", driver: { principal: ME } } },
      { data: { from: ME, how: "left", driver: null } },
    ]);
  });

  test("control is requested, given and taken, and every terminal shows the driver (SYM-10 resume)", async () => {
    await using home = new TestHome();
    await start(home, host);
    const ada = await token(home, "ada", "driver");
    using mine = await attached(home, "", { columns: 90, rows: 20 });
    using hers = await attached(home, "", { columns: 70, rows: 18 }, `HOLDFAST_TOKEN=${ada}`);
    await hers.shows(`${ME} drives`);
    const [, second] = await attachments(home, 2);
    expect(second).toMatchObject({ principal: "token:ada", role: "observer" });

    const refused = await home.cli(["control", "take", "chat"], { env: { HOLDFAST_TOKEN: ada } });
    expect(refused).toMatchObject({ code: 33, stderr: expect.stringContaining("holdfast control request chat") });
    expect(await home.ok(["control", "request", "chat"], { env: { HOLDFAST_TOKEN: ada } })).toContain("has been asked");
    await mine.shows("token:ada requests control");
    // The request stays visible without hiding new output.
    await home.ok(["send", "chat", "meanwhile"]);
    expect(await mine.shows("got meanwhile")).toContain("token:ada requests control");
    expect(await home.ok(["control", "give", "chat"])).toContain("chat: token:ada drives");
    await mine.shows("token:ada drives now; you are watching; to ask for control: holdfast control request chat");
    await hers.shows("you drive now");
    await hers.shows(host === "tmux" ? "17 70" : "18 70");
    hers.line("hers");
    await mine.shows("got hers");
    await mine.shows(/token:ada drives/);
    mine.line("not now");

    // The owner needs no permission.
    expect(await home.ok(["control", "take", "chat"])).toContain(`chat: ${ME} drives`);
    mine.line("mine again");
    await hers.shows("got mine again");
    expect(await home.ok(["logs", "chat", "--raw"])).not.toContain("not now");
    const facts = await eventsOf(home, "session.control_requested", "session.control_changed");
    expect(facts.map(({ type, data }) => [type, data.how])).toEqual([
      ["session.control_requested", undefined],
      ["session.control_changed", "given"],
      ["session.control_changed", "taken"],
    ]);
    // Her request was granted; of two observers, none has an open request.
    using third = await attached(home, "--read-only");
    const [, , last] = await attachments(home, 3);
    const unclear = await home.cli(["control", "give", "chat"]);
    expect(unclear).toMatchObject({ code: 6, stderr: expect.stringContaining("several others are attached") });
    expect(await home.ok(["control", "give", "chat", "--to", last?.terminal ?? ""])).toContain(`drives on ${last?.terminal}`);
    await third.shows("you drive now");
  });

  test("attach --take drives at once, and the former driver observes; a killed daemon changes nothing (SYM-10 resume)", async () => {
    await using home = new TestHome();
    await start(home, host);
    using first = await attached(home);
    await attachments(home, 1);
    using second = await attached(home, "--take", { columns: 80, rows: 20 });
    await eventually(async () => (await home.session("chat")).attachments.map(({ role }) => role).join() === "observer,driver");
    await first.shows(/read only · .* drives/);
    await home.killDaemon();
    second.line("taken");
    await first.shows("got taken");
    expect((await attachments(home, 2)).map(({ role }) => role)).toEqual(["observer", "driver"]);
  });

  test("an observer's token can observe, but neither drive nor be given control (SYM-10 resume)", async () => {
    await using home = new TestHome();
    await start(home, host);
    const eve = await token(home, "eve", "observer");
    using hers = await attached(home, "--take", {}, `HOLDFAST_TOKEN=${eve}`);
    expect(await attachments(home, 1)).toMatchObject([{ principal: "token:eve", role: "observer" }]);
    await hers.shows("nobody drives");
    using mine = await attached(home);
    await attachments(home, 2);
    expect(await home.cli(["control", "give", "chat", "--to", "token:eve"])).toMatchObject({
      code: 20,
      stderr: expect.stringContaining("token:eve has the scope observer, and may not drive"),
    });
    mine.line("still mine");
    await mine.shows("got still mine");
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

test("a terminal that switches to another session is attached there under the same principal", async () => {
  await using home = new TestHome();
  await start(home, "tmux");
  await home.json(["spawn", "shell", "--name", "other"]);
  const ada = await token(home, "ada", "owner");
  using terminal = openTerminal(home);
  await terminal.command(`HOLDFAST_TOKEN=${ada} holdfast attach other`);
  const [before] = await attachments(home, 1, "other");
  expect(before?.principal).toBe("token:ada");
  await terminal.shows(barOf("other"));
  terminal.line(`HOLDFAST_AS=owner ${HOLDFAST} attach chat`);
  expect(await attachments(home, 1)).toMatchObject([{ principal: "token:ada", role: "driver" }]);
  await attachments(home, 0, "other");
});

test("a driver who returns after a broken connection drives again, even if the old terminal still seems attached", async () => {
  await using home = new TestHome();
  await start(home, "tmux");
  using before = await attached(home, "", {}, "HOLDFAST_ATTACHMENT=one");
  await attachments(home, 1);
  using again = await attached(home, "", {}, "HOLDFAST_ATTACHMENT=one");
  again.line("back");
  await before.shows("got back");
  expect((await attachments(home, 2)).map(({ role }) => role)).toEqual(["observer", "driver"]);
});

test("others cannot type over a driver; the owner's keys are accepted (SYM-10 resume)", async () => {
  await using home = new TestHome();
  await start(home, "tmux");
  const ada = { HOLDFAST_TOKEN: await token(home, "ada", "driver") };
  await home.ok(["keys", "chat", "a", "Enter"], { env: ada });
  using terminal = await attached(home);
  await attachments(home, 1);
  for (const typed of [
    ["keys", "chat", "b", "Enter"],
    ["send", "chat", "bb"],
    ["send", "--no-enter", "chat", "bb"],
  ]) {
    expect(await home.cli(typed, { env: ada })).toMatchObject({ code: 33, stderr: expect.stringContaining("nothing was typed") });
  }
  await home.ok(["keys", "chat", "c", "Enter"]);
  expect(await terminal.shows("got c")).not.toContain("got b");
});

test("a session is handed over with its history and a note, and the new owner decides from then on (SYM-11 resume)", async () => {
  await using home = new TestHome();
  const { id } = await start(home, "tmux");
  await home.ok(["send", "chat", "before"]);
  const ada = { HOLDFAST_TOKEN: await token(home, "ada", "driver") };
  using terminal = await attached(home);
  await attachments(home, 1);
  expect(await home.cli(["control", "take", "chat"], { env: ada })).toMatchObject({ code: 33 });
  expect(await home.cli(["handover", "chat", "--to", "token:ada"], { env: ada })).toMatchObject({ code: 20 });

  const given = await home.json<Session>(["handover", "chat", "--to", "token:ada", "--note", "tests are green"]);
  expect(given).toMatchObject({ id, owner: "token:ada", handover: { by: ME, from: ME, to: "token:ada", note: "tests are green" } });
  await terminal.shows("chat now belongs to token:ada: tests are green");
  expect(await home.ok(["show", "chat"], { env: ada })).toMatch(/^owner +token:ada\nhanded over +by .*: tests are green$/m);
  expect(await home.ok(["digest", "chat"], { env: ada })).toContain(`handed over by ${ME} to token:ada: tests are green`);
  // Nothing is lost: the output, and every event since the start.
  expect(await home.ok(["logs", "chat"], { env: ada })).toContain("got before");
  const [created] = await eventsOf(home, "session.created");
  expect(created).toMatchObject({ session: id, actor: ME });

  using hers = await attached(home, "--take", {}, `HOLDFAST_TOKEN=${ada.HOLDFAST_TOKEN}`);
  hers.line("hers");
  await terminal.shows("got hers");
  await home.ok(["handover", "chat", "--to", ME], { env: ada });
  expect((await home.session("chat")).owner).toBe(ME);
});

test("a session can be handed only to a principal that can act here (SYM-11 resume)", async () => {
  await using home = new TestHome();
  await start(home, "tmux");
  await token(home, "eve", "observer");
  expect(await home.cli(["handover", "chat", "--to", "user:somebody-else"])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("holdfast token create --scope driver --name somebody-else"),
  });
  expect(await home.cli(["handover", "chat", "--to", "token:nobody"])).toMatchObject({ code: 3 });
  expect(await home.cli(["handover", "chat", "--to", "token:eve"])).toMatchObject({ code: 20 });
  expect(await home.cli(["handover", "chat"])).toMatchObject({ code: 2 });
  expect(await home.session("chat")).toMatchObject({ owner: ME, handover: null });
});
