/** A key acts on the client that pressed it, with that client's rights. Tests every key of Holdfast with every kind of client. */
import { execFileSync } from "node:child_process";
import { HOSTS, type NewToken, type Session } from "@holdfast/contract";
import { openHome, userName } from "@holdfast/platform";
import { HoldfastClient, httpTransport } from "@holdfast/sdk";
import { describe, expect, test } from "vitest";
import { tokenOf } from "./as-session.ts";
import { attachTerminal, barOf } from "./attached.ts";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { act, configure, shows } from "./scripted-agent.ts";
import { WireTerminal } from "./wire-terminal.ts";

const ME = `user:${userName()}`;
const NEXT = "\x1d";
/** The key in the other encodings that programs switch terminals to, and split into frames of one byte. */
const NEXT_FORMS = [[NEXT], ["\x1b[93;5u"], ["\x1b[27;5;93~"], [..."\x1b[93;5u"], [..."\x1b[27;5;93~"]];
const ECHO = "stty -echo; echo begin; while :; do read -r line && echo got $line; done";

async function listen(home: TestHome): Promise<string> {
  return (await home.json<{ listen: { url: string } }>(["up", "--listen", "127.0.0.1:0"])).listen.url;
}

async function token(home: TestHome, name: string, scope: string): Promise<string> {
  return (await home.json<NewToken>(["token", "create", "--scope", scope, "--name", name])).token;
}

/** An agent that waits for an approval and shows the last line it read: a typed `y` would replace the question. */
async function asks(home: TestHome, name: string, ...flags: string[]): Promise<Session> {
  await act(home, name, ...flags);
  await shows(home, name, `may I ask for ${name}?`);
  return home.until(name, ({ status }) => status === "waiting");
}

/** The principals and roles at each session. */
async function places(home: TestHome, ...names: string[]): Promise<string[]> {
  const sessions = await Promise.all(names.map((name) => home.session(name)));
  return sessions.flatMap(({ name, attachments }) => attachments.map(({ principal, role }) => `${principal} ${role} ${name}`)).sort();
}

/** Waits until all attachments are as expected. */
function placed(home: TestHome, names: string[], expected: string[]): Promise<void> {
  return expect.poll(() => places(home, ...names), { timeout: 40_000 }).toEqual(expected.toSorted());
}

function tmux(home: TestHome, ...args: string[]): string {
  return execFileSync("tmux", ["-u", "-S", openHome(home.env).tmuxSocket, ...args], { encoding: "utf8" });
}

/** A parent and its child, which the parent's token reaches. */
async function family(home: TestHome): Promise<string> {
  await home.run("exec sleep 1000", "--name", "parent");
  const run = await tokenOf(home, "parent");
  await home.ok(["run", "--name", "child", "--", "sh", "-c", ECHO], { env: { HOLDFAST_TOKEN: run } });
  return run;
}

describe.each(HOSTS)("to a session on the %s host", (host) => {
  test("the owner's next key switches the owner, not a busier observer; the observer's next key switches the observer, who still cannot type (mend 1)", async () => {
    await using home = new TestHome();
    configure(home);
    const url = await listen(home);
    await home.run(ECHO, "--name", "here");
    await asks(home, "secret", "--host", host);
    using owner = await attachTerminal(home, { ref: "here" });
    using observer = await WireTerminal.open(url, { ref: "here", token: await token(home, "eve", "observer") });
    await placed(home, ["here"], [`${ME} driver here`, "token:eve observer here"]);
    const busy = setInterval(() => observer.keys("y"), 5);
    try {
      owner.keys("C-]");
      await owner.shows("may I ask for secret?");
      await placed(home, ["here", "secret"], ["token:eve observer here", `${ME} driver secret`]);
    } finally {
      clearInterval(busy);
    }
    expect(observer.shown).not.toContain("may I ask");
    observer.keys("y\r", NEXT);
    await observer.shows("may I ask for secret?");
    observer.keys("y\r", "y\r");
    await placed(home, ["here", "secret"], ["token:eve observer secret", `${ME} driver secret`]);
    // The terminal that has waited longest drives when the driver leaves, but never one that may not type.
    owner.keys("C-\\");
    await placed(home, ["here", "secret"], ["token:eve observer secret"]);
    observer.keys("y\r");
    expect(await home.ok(["screen", "secret"])).toContain("may I ask for secret?");
    expect((await home.session("secret")).status).toBe("waiting");
    const audit = await home.ok(["audit"]);
    expect(audit).toMatch(new RegExp(`${ME} +attached to secret$`, "m"));
    expect(audit).toMatch(/token:eve +attached to secret as observer$/m);
  });

  test("a run's token reaches no foreign session by any form of the next key, and acts as itself where it may go (mend 2)", async () => {
    await using home = new TestHome();
    configure(home);
    const url = await listen(home);
    const run = await family(home);
    await asks(home, "secret", "--host", host);
    using wire = await WireTerminal.open(url, { ref: "child", token: run });
    const id = (await home.session("parent")).id;
    await placed(home, ["child"], [`session:${id} driver child`]);
    for (const form of NEXT_FORMS) {
      const before = wire.messages.length;
      wire.keys(...form);
      // A split key may arrive too slowly to be recognised; then the program gets it.
      if (form.length === 1) await eventually(() => wire.messages.slice(before).some((each) => each.t === "notice"));
    }
    // Text copied in another session cannot be pasted either.
    tmux(home, "set-buffer", "copied-elsewhere");
    wire.keys(...mouse("MouseDown2Pane"), "\r", "mine\r");
    await wire.shows("got mine");
    expect(wire.shown).not.toContain("copied-elsewhere");
    expect(wire.plans.map(({ session }) => session.name)).toEqual(["child"]);
    expect(wire.shown).not.toContain("secret");
    expect(await places(home, "secret")).toEqual([]);
    expect(await home.ok(["audit"])).not.toMatch(/attached to secret/);

    await home.ok(["spawn", "actor", "--name", "second", "--host", host], { env: { HOLDFAST_TOKEN: run } });
    await shows(home, "second", "may I ask for second?");
    await home.until("second", ({ status }) => status === "waiting");
    wire.keys(NEXT);
    await wire.shows("may I ask for second?");
    // The session only observes, because an agent cannot approve.
    wire.keys("y\r");
    await placed(home, ["child", "second"], [`session:${id} observer second`]);
    wire.keys("y\r");
    expect(await home.ok(["screen", "second"])).toContain("may I ask for second?");
    expect(await home.ok(["audit"])).toMatch(new RegExp(`session:${id} +attached to second as observer$`, "m"));
  });
});

test("a run's token cannot type into its child's terminal while the child waits for an approval (mend 2)", async () => {
  await using home = new TestHome();
  configure(home);
  const url = await listen(home);
  await home.run("exec sleep 1000", "--name", "parent");
  const run = await tokenOf(home, "parent");
  await home.ok(["spawn", "actor", "--name", "child"], { env: { HOLDFAST_TOKEN: run } });
  using wire = await WireTerminal.open(url, { ref: "child", token: run });
  wire.keys("work on it\r");
  await home.until("child", ({ status }) => status === "working");
  await shows(home, "child", "may I delete everything?");
  await home.until("child", ({ status }) => status === "waiting");
  wire.keys("ready\r");
  wire.tell({ t: "resize", columns: 90, rows: 20 });
  await eventually(async () => (await home.session("child")).attachments.length === 1);
  expect(await home.ok(["screen", "child"])).toContain("may I delete everything?");
});

test("attach inside a session switches the terminal that can type, not an observer's; a foreign client switches none (mend 1)", async () => {
  await using home = new TestHome();
  const url = await listen(home);
  await home.json(["spawn", "shell", "--name", "here"]);
  await home.run(ECHO, "--name", "other");
  using owner = await attachTerminal(home, { ref: "here" });
  const eve = await token(home, "eve", "observer");
  using observer = await WireTerminal.open(url, { ref: "here", token: eve });
  await placed(home, ["here"], [`${ME} driver here`, "token:eve observer here"]);

  using client = new HoldfastClient(httpTransport(url, { token: eve }));
  const { id } = await home.session("here");
  const plan = await client.call("attachSession", { params: { ref: "other" }, body: { from: `${id}-1` } });
  expect(plan.switched).toBe(false);
  expect(await places(home, "here", "other")).toEqual([`token:eve observer here`, `${ME} driver here`]);

  observer.keys("x", "y", "z");
  owner.line(`HOLDFAST_AS=owner ${HOLDFAST} attach other`);
  await owner.shows(barOf("other"));
  observer.keys("x", "y", "z");
  await placed(home, ["here", "other"], ["token:eve observer here", `${ME} driver other`]);
});

/** A click or wheel turn as a terminal reports it, in the pane and on the status line. */
function mouse(key: string): string[] {
  const [, modifiers = "", kind = "", button = ""] =
    /^((?:[CMS]-)*)(MouseDown|MouseDrag|DoubleClick|TripleClick|WheelUp|WheelDown)(\d?)/.exec(key) ?? [];
  const base = kind.startsWith("Wheel") ? (kind === "WheelUp" ? 64 : 65) : Number(button || 1) - 1;
  const code = base + (modifiers.includes("S-") ? 4 : 0) + (modifiers.includes("M-") ? 8 : 0) + (modifiers.includes("C-") ? 16 : 0);
  const times = kind === "DoubleClick" ? 2 : kind === "TripleClick" ? 3 : 1;
  const at = (row: number) => {
    const press = `\x1b[<${code};5;${row}M`;
    const moved = kind === "MouseDrag" ? `\x1b[<${code + 32};6;${row}M` : "";
    return `${press}${moved}\x1b[<${code};6;${row}m`.repeat(times);
  };
  return [at(3), at(30)];
}

/** Commands that switch no client and show nothing but the pane itself. Review any other command in a binding before adding it. */
const HARMLESS = /^(send-keys|select-pane|copy-mode|if-shell|paste-buffer|command-prompt|run-shell -d 0\.3)\b/;

test("every key and click of Holdfast, pressed by every kind of client at once, switches at most the client that pressed it (mend 1)", async () => {
  await using home = new TestHome();
  configure(home);
  const url = await listen(home);
  const run = await family(home);
  await asks(home, "secret");
  const names = ["child", "secret"];
  const bindings = tmux(home, "list-keys")
    .trim()
    .split("\n")
    .map((line) => {
      const [, table = "", key = "", command = ""] = /^bind-key +(?:-r )?-T (\S+) +(\S+) +(.*)$/.exec(line) ?? [];
      return { table, key, command };
    });
  expect([...new Set(bindings.map(({ table }) => table))].sort()).toEqual(["copy-mode", "copy-mode-vi", "root"]);
  const ours = bindings.filter(({ command }) => !HARMLESS.test(command)).map(({ table, key }) => `${table} ${key}`);
  expect(ours.sort()).toEqual(["root C-\\\\", "root C-]"]);
  // Commands inside prompt templates or after another command are of the same kinds.
  for (const { command } of bindings.filter(({ key }) => !["C-\\\\", "C-]"].includes(key))) {
    const inner = command.match(/(?:\\;|[{;]) *([a-z]+-[a-z]+[^;{}]*)/g) ?? [];
    for (const each of inner) expect(each.replace(/^(?:\\;|[{;]) */, "")).toMatch(HARMLESS);
  }

  using owner = await attachTerminal(home, { ref: "child" });
  using reader = await attachTerminal(home, { ref: "child", flags: "--read-only" });
  using eve = await WireTerminal.open(url, { ref: "child", token: await token(home, "eve", "observer") });
  using dan = await WireTerminal.open(url, { ref: "child", token: await token(home, "dan", "driver") });
  using agent = await WireTerminal.open(url, { ref: "child", token: run });
  const parent = `session:${(await home.session("parent")).id}`;
  const wires = [eve, dan, agent];
  const there = (where: { owner?: string; eve?: string; dan?: string }) => [
    `${ME} driver ${where.owner ?? "child"}`,
    `${ME} observer child`,
    `token:eve observer ${where.eve ?? "child"}`,
    `token:dan observer ${where.dan ?? "child"}`,
    `${parent} observer child`,
  ];
  await placed(home, names, there({}));

  for (const { key } of bindings.filter(({ table, key }) => table === "root" && /Mouse|Click|Wheel/.test(key))) {
    for (const report of mouse(key)) {
      for (const wire of wires) wire.keys(report);
      const hex = [...report].map((character) => character.charCodeAt(0).toString(16));
      for (const terminal of [owner, reader]) terminal.tmux("send-keys", "-t", "terminal", "-H", ...hex);
    }
  }
  // Ends any mode that a click started; after that, every accepted line is shown.
  owner.keys("Escape", "q", "Enter");
  await eventually(() =>
    tmux(home, "list-panes", "-a", "-F", "#{pane_in_mode}")
      .trim()
      .split("\n")
      .every((mode) => mode === "0"),
  );
  await placed(home, names, there({}));

  const pressings: [press: () => void, expected: Parameters<typeof there>[0]][] = [
    [() => reader.keys("C-]"), {}],
    [() => agent.keys(NEXT), {}],
    [() => eve.keys(...(NEXT_FORMS[3] ?? [])), { eve: "secret" }],
    [() => eve.keys(NEXT), { eve: "secret" }],
    [() => dan.keys(NEXT), { eve: "secret", dan: "secret" }],
  ];
  for (const [press, expected] of pressings) {
    press();
    await placed(
      home,
      names,
      there(expected).map((each) => (each === "token:dan observer secret" ? "token:dan driver secret" : each)),
    );
  }
  for (const wire of [agent]) expect(wire.shown).not.toContain("may I ask");
  expect(reader.screen()).not.toContain("may I ask");
  expect(await home.ok(["screen", "secret"])).toContain("may I ask for secret?");

  // The detach key detaches only the client that pressed it.
  eve.keys("\x1c");
  await eventually(() => !eve.isOpen);
  reader.keys("C-\\");
  await reader.shows("detached");
  await placed(home, names, [`${ME} driver child`, "token:dan driver secret", `${parent} observer child`]);
  owner.line("still");
  await owner.shows("got still");
  expect(tmux(home, "list-panes", "-a", "-F", "#{session_name}").trim().split("\n")).toHaveLength(4);
});

test("a terminal that tmux switches to a session its principal may not see is disconnected (mend 2)", async () => {
  await using home = new TestHome();
  configure(home);
  const url = await listen(home);
  const run = await family(home);
  const secret = await asks(home, "secret");
  using wire = await WireTerminal.open(url, { ref: "child", token: run });
  await placed(home, ["child"], [`session:${(await home.session("parent")).id} driver child`]);
  const child = await home.session("child");
  const client = tmux(home, "list-clients", "-t", `=${child.id}-1`, "-F", "#{client_name}").trim();
  tmux(home, "switch-client", "-c", client, "-t", `=${secret.id}-1`);
  await eventually(() => !wire.isOpen);
  expect(await places(home, "child", "secret")).toEqual([]);
});
