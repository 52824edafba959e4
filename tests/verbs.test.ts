import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import type { ErrorBody, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { attachTerminal } from "./attached.ts";
import { eventually, TestHome } from "./home.ts";

test("spawn, ls, attach, detach and stop work by name, by id and by unique id prefix (SYM-02 spine)", async () => {
  await using home = new TestHome();
  const byName = await home.json<Session>(["spawn", "shell", "--name", "one"]);
  const byId = await home.json<Session>(["spawn", "shell", "--name", "two"]);
  const byPrefix = await home.json<Session>(["spawn", "shell", "--name", "three"]);
  const others = [byName.id, byId.id];
  const refs = [
    { session: byName, ref: "one" },
    { session: byId, ref: byId.id },
    { session: byPrefix, ref: uniquePrefix(byPrefix.id, others) },
  ];
  for (const { session, ref } of refs) {
    expect(
      (await home.json<Session[]>(["ls", ref])).map(({ id }) => id),
      ref,
    ).toEqual([session.id]);
    expect((await home.session(ref)).id, ref).toBe(session.id);

    using terminal = await attachTerminal(home, { ref, name: session.name });
    terminal.line("echo typed-$((40 + 2))");
    await terminal.shows("typed-42");
    expect(await home.ok(["detach", ref])).toBe(`${session.name}: 1 terminal detached\n`);
    await terminal.shows("[detached");
    expect(await home.ok(["logs", ref])).toContain("typed-42");

    expect(await home.ok(["stop", ref, "--grace", "0s"])).toContain(`${session.name} stopped`);
    expect((await home.session(session.id)).status).toBe("stopped");
  }
  expect(await home.json(["ls"])).toEqual([]);
});

test("an ambiguous id prefix is a distinct error that lists the candidates, and nothing is done (SYM-02 spine)", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  const [first, second] = await twoWithOneLetter(home);
  const prefix = first.id[0] ?? "";
  for (const verb of [["ls"], ["show"], ["stop"], ["rm"], ["detach"], ["logs"], ["attach", "--json"], ["events", "--session"]]) {
    const { code, stdout, stderr } = await home.cli([...verb, prefix]);
    expect(code, verb.join(" ")).toBe(4);
    expect(stdout).toBe("");
    expect(stderr).toContain(`${first.id} (${first.name})`);
    expect(stderr).toContain(`${second.id} (${second.name})`);
  }
  const renamed = await home.cli(["rename", prefix, "other", "--json"]);
  const { error } = JSON.parse(renamed.stderr) as { error: ErrorBody };
  expect(error.code).toBe("session_ambiguous");
  expect(error.candidates).toEqual([`${first.id} (${first.name})`, `${second.id} (${second.name})`]);
  expect(error.hint).toBe("use more of the id, or the name");
  expect((await home.json<Session[]>(["ls", first.id, second.id])).map(({ name, status }) => `${name} ${status}`)).toEqual([
    `${first.name} working`,
    `${second.name} working`,
  ]);
});

test("an unknown name is a distinct error that lists similar names (SYM-02 spine)", async () => {
  await using home = new TestHome();
  const first = await home.cli(["show", "nothing"]);
  expect(first.code).toBe(3);
  expect(first.stderr).toBe(
    'holdfast: no session has the name, id or id prefix "nothing"\n  there are no sessions yet; start one: holdfast run -- COMMAND\n',
  );
  await home.run("sleep 1000", "--name", "build");
  await home.run("sleep 1000", "--name", "tests");
  for (const verb of [["ls"], ["show"], ["stop"], ["rm"], ["detach"], ["logs"], ["attach", "--json"], ["events", "--session"]]) {
    const { code, stdout, stderr } = await home.cli([...verb, "biuld"]);
    expect(code, verb.join(" ")).toBe(3);
    expect(stdout).toBe("");
    expect(stderr).toContain("build");
    expect(stderr).not.toContain("tests");
  }
  // No name is similar, so all are listed.
  expect((await home.cli(["show", "zzzzzz"])).stderr).toContain("choose from: build, tests\n  list sessions: holdfast ls --all\n");
  expect((await home.cli(["rename", "biuld", "x"])).code).toBe(3);
});

test("an empty name matches no session, and never means all sessions", async () => {
  await using home = new TestHome();
  await home.run("sleep 1000", "--name", "build");
  const inQuery = ["ls", "stop", "rm", "detach"].flatMap((verb) => ["", ","].map((name) => [verb, name]));
  const inPath = ["", ".", ".."].map((name) => ["show", name]);
  for (const args of [...inQuery, ...inPath, ["logs", ""], ["attach", "--json", ""], ["rename", "", "x"], ["events", "--session", ""]]) {
    const { code, stderr } = await home.cli(args);
    expect(code, JSON.stringify(args)).toBe(3);
    expect(stderr).toContain("no session has the name, id or id prefix");
  }
  expect((await home.session("build")).status).toBe("working");
});

test("ls --all shows running and ended sessions with status, duration, output path and pid (BG-11 spine)", async () => {
  await using home = new TestHome();
  const running = await home.run("echo here; sleep 1000", "--name", "running");
  await home.run("echo was here", "--name", "good");
  await home.run("exit 3", "--name", "bad");
  await home.run("sleep 1000", "--name", "ended");
  await home.ok(["stop", "ended"]);
  await home.ended("good");
  await home.ended("bad");
  const all = await home.json<Session[]>(["ls", "--all"]);
  expect(all.map(({ name, status, exit }) => ({ name, status, exit }))).toEqual([
    { name: "running", status: "working", exit: null },
    { name: "good", status: "done", exit: { code: 0, signal: null } },
    { name: "bad", status: "failed", exit: { code: 3, signal: null } },
    { name: "ended", status: "stopped", exit: { code: null, signal: "SIGTERM" } },
  ]);
  for (const session of all) {
    expect(session.durationMs).toBeGreaterThanOrEqual(0);
    expect(session.outputPath).toBe(path.join(home.path, "sessions", session.id, "runs/1/output.000000"));
    expect(existsSync(path.dirname(session.outputPath ?? ""))).toBe(true);
    expect(session.pid).toBeGreaterThan(1);
  }
  expect(all[0]?.pid).toBe(running.pid);
  // The failed session is unread.
  expect((await home.json<Session[]>(["ls"])).map(({ name }) => name)).toEqual(["running", "bad"]);

  const [heads = "", ...lines] = (await home.ok(["ls", "--all"])).trimEnd().split("\n");
  expect(heads.split(/ {2,}/)).toEqual(["NAME", "STATUS", "AGENT", "FOR", "LAST OUTPUT", "ABOUT", "DIRECTORY", "OUTPUT"]);
  const rows = lines.map((line) => line.split(/ {2,}/));
  expect(rows.map(([name, status, agent]) => [name, status, agent])).toEqual([
    ["bad", "failed (3)", "shell"],
    ["running", "working", "shell"],
    ["good", "done", "shell"],
    ["ended", "stopped (SIGTERM)", "shell"],
  ]);
  for (const [name, , , duration, , about, directory, output] of rows) {
    const session = all.find((each) => each.name === name);
    expect(duration).toMatch(/^\d+s$/);
    expect([about, directory, output]).toEqual([`sh -c '${session?.command.at(-1)}'`, home.root, session?.outputPath]);
  }
});

test("rename changes the name of a running session at once, also on the status line of an attached terminal", async () => {
  await using home = new TestHome();
  const session = await home.json<Session>(["spawn", "shell", "--name", "before"]);
  using terminal = await attachTerminal(home, { ref: "before" });
  expect(await home.ok(["rename", "before", "nachher-ü.1"])).toBe("before is now nachher-ü.1\n");
  await terminal.shows(/^ nachher-ü\.1 · shell .*detaches/m);
  expect((await home.session("nachher-ü.1")).id).toBe(session.id);
  expect((await home.cli(["show", "before"])).code).toBe(3);
});

test("rename refuses a name that is taken or not allowed, and changes nothing", async () => {
  await using home = new TestHome();
  await home.run("sleep 1000", "--name", "one");
  await home.run("exit 0", "--name", "two");
  await home.ended("two");
  const taken = await home.cli(["rename", "one", "two"]);
  expect(taken).toEqual({
    code: 5,
    stdout: "",
    stderr:
      'holdfast: an ended session has the name "two"\n  continue it: holdfast resume two; remove it: holdfast rm two; rename it: holdfast rename two NEW-NAME\n',
  });
  expect((await home.cli(["rename", "one", "a:b"])).code).toBe(2);
  expect((await home.cli(["rename", "one"])).stderr).toContain("usage: holdfast rename NAME NEW-NAME");
  expect((await home.cli(["rename", "one", "x", "y"])).code).toBe(2);
  expect(await home.ok(["rename", "one", "one"])).toBe("one is now one\n");
  expect((await home.json<Session[]>(["ls", "--all"])).map(({ name }) => name)).toEqual(["one", "two"]);
  // An ended session can be renamed too, and its old name is free again.
  await home.ok(["rename", "two", "three"]);
  await home.ok(["rename", "one", "two"]);
});

test("rm refuses a running session and removes the record and the files of an ended one", async () => {
  await using home = new TestHome();
  const session = await home.run("echo text; sleep 1000", "--name", "one");
  const refused = await home.cli(["rm", "one"]);
  expect(refused).toEqual({ code: 6, stdout: "", stderr: "holdfast: one is running\n  stop it first: holdfast stop one\n" });
  await home.ok(["stop", "one"]);
  const sessions = path.join(home.path, "sessions");
  expect(readdirSync(sessions)).toEqual([session.id]);
  expect(await home.ok(["rm", "one"])).toBe("one removed\n");
  expect(readdirSync(sessions)).toEqual([]);
  expect(await home.json(["ls", "--all"])).toEqual([]);
  expect((await home.cli(["logs", "one"])).code).toBe(3);
  // The events stay in the journal, and the name is free again.
  expect(await home.ok(["events", "--session", session.id, "--type", "session.removed"])).toContain('"name":"one"');
  await home.run("exit 0", "--name", "one");
});

async function twoWithOneLetter(home: TestHome): Promise<[Session, Session]> {
  using client = home.client();
  const byLetter = new Map<string, Session>();
  return eventually(async () => {
    const body = { agent: "shell", command: ["sleep", "1000"], cwd: home.root, env: home.env };
    const session = await client.call("spawn", { body });
    const other = byLetter.get(session.id[0] ?? "");
    byLetter.set(session.id[0] ?? "", session);
    return other && ([other, session] as [Session, Session]);
  });
}

function uniquePrefix(id: string, others: readonly string[]): string {
  const length = [...id].findIndex((_, index) => others.every((other) => !other.startsWith(id.slice(0, index + 1))));
  return id.slice(0, length + 1);
}
