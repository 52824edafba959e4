/** The processes that `stop` ends, and how. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Session, StopReply } from "@holdfast/contract";
import { inspect } from "@holdfast/platform";
import { expect, test } from "vitest";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { lives } from "./proc.ts";

type Stopped = Session & Pick<StopReply, "killed">;

/** Waits for a number of pids that a script writes into a file, one per line. */
function pidsIn(file: string, count: number): Promise<number[]> {
  return eventually(() => {
    const pids = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
    return pids.length === count && pids;
  });
}

test("the next daemon completes a stop that only a file records, because the journal lost it", async () => {
  await using home = new TestHome();
  const { id, pid } = await home.run("exec sleep 1000", "--name", "frozen");
  await home.killDaemon();
  // The state of an interrupted stop: requested, and the processes frozen.
  writeFileSync(path.join(home.path, "sessions", id, "runs", "1", "stop"), "{}\n");
  process.kill(pid ?? 0, "SIGSTOP");
  expect(await home.ended("frozen")).toMatchObject({ status: "stopped" });
  expect(lives(pid ?? 0)).toBe(false);
});

test.each(["tmux", "native"])("the next daemon completes a stop that the daemon's death interrupted, on %s", async (host) => {
  await using home = new TestHome();
  const script = "trap '' TERM; sleep 1000 & sleep 1000 & echo ready; while :; do sleep 0.05; done";
  await home.run(script, "--name", "stubborn", "--host", host);
  await home.ok(["wait", "stubborn", "--for", "output=ready", "--timeout", "60s"]);
  const stopping = home.cli(["stop", "stubborn", "--grace", "1h"]);
  await eventually(async () => (await home.ok(["events", "--type", "session.stop_requested"])) !== "");
  await home.killDaemon();
  await stopping;
  expect(await home.ended("stubborn")).toMatchObject({ status: "stopped" });
  const left = home.processes().filter(({ name }) => name === "sleep");
  expect(left).toEqual([]);
});

test("stop sends SIGTERM, gives time to clean up, and reports the exit", async () => {
  await using home = new TestHome();
  const script = "trap 'sleep 0.3; echo cleaned up; exit 7' TERM; echo ready; while :; do sleep 0.05; done";
  await home.run(script, "--name", "tidy");
  await eventually(async () => (await home.ok(["logs", "tidy"])).includes("ready"));
  const [stopped] = await home.json<Stopped[]>(["stop", "tidy"]);
  expect(stopped).toMatchObject({ status: "stopped", exit: { code: 7, signal: null } });
  expect(stopped?.killed.every(({ signal }) => signal === "SIGTERM")).toBe(true);
  expect(await home.ok(["logs", "tidy"])).toMatch(/^ready\n.*cleaned up\n$/s);
});

test("a program that ignores SIGTERM is killed after the grace period", async () => {
  await using home = new TestHome();
  const session = await home.run("trap '' TERM; echo ready; while :; do sleep 0.05; done", "--name", "stubborn");
  await eventually(async () => (await home.ok(["logs", "stubborn"])).includes("ready"));
  const before = performance.now();
  const [stopped] = await home.json<Stopped[]>(["stop", "stubborn", "--grace", "700ms"]);
  expect(performance.now() - before).toBeGreaterThan(700);
  expect(stopped).toMatchObject({ status: "stopped", exit: { code: null, signal: "SIGKILL" } });
  expect(stopped?.killed.find(({ pid }) => pid === session.pid)?.signal).toBe("SIGKILL");
  expect(lives(session.pid ?? 0)).toBe(false);
});

test("stop ends children, grandchildren, and processes that left the process group or the process session", async () => {
  await using home = new TestHome();
  const file = path.join(home.root, "pids");
  const script = `
    echo $$ >> ${file}
    sleep 1000 & echo $! >> ${file}
    sh -c 'echo $$ >> ${file}; sleep 1000 & echo $! >> ${file}; wait' &
    setsid sh -c 'echo $$ >> ${file}; exec sleep 1000' &
    setsid sh -c 'setsid sh -c "echo \\$\\$ >> ${file}; exec sleep 1000" & exit 0' &
    nohup sleep 1000 > /dev/null 2>&1 & echo $! >> ${file}
    wait`;
  await home.run(script, "--name", "family");
  const pids = await pidsIn(file, 7);
  expect(pids.every(lives)).toBe(true);
  const [stopped] = await home.json<Stopped[]>(["stop", "family"]);
  expect(pids.filter(lives)).toEqual([]);
  expect(pids.filter((pid) => !stopped?.killed.some((each) => each.pid === pid))).toEqual([]);
});

test("a process that a program left behind does not keep its session running, and down --all ends it", async () => {
  await using home = new TestHome();
  const file = path.join(home.root, "pids");
  const leave = `setsid sh -c 'echo $$ >> ${file}; exec sleep 1000' & while ! [ -s ${file} ]; do sleep 0.02; done; exit 4`;
  await home.run(leave, "--name", "left");
  expect(await home.ended("left")).toMatchObject({ status: "failed", exit: { code: 4, signal: null } });
  const [pid = 0] = await pidsIn(file, 1);
  expect(lives(pid)).toBe(true);
  await home.ok(["down", "--all"]);
  expect(lives(pid)).toBe(false);
});

/** Leaves a process in its own process session that holds the terminal, and exits once that process runs. */
function leaving(file: string, code = 4): string {
  return `setsid sh -c 'trap "" HUP; echo $$ >> ${file}; exec sleep 1000' & while ! [ -s ${file} ]; do sleep 0.02; done; exit ${code}`;
}

test("a dead program ends its run although a child holds its terminal: wait returns, and the restart policy applies (mend 10)", async () => {
  await using home = new TestHome();
  const file = path.join(home.root, "pids");
  await home.run(
    `if [ -e ${file} ]; then exec sleep 1000; fi; ${leaving(file)}`,
    "--name",
    "again",
    "--host",
    "native",
    "--restart",
    "on-failure",
  );
  await home.until("again", ({ runs, status }) => runs === 2 && status !== "starting");
  const once = path.join(home.root, "once");
  await home.run(leaving(once), "--name", "once", "--host", "native");
  expect(await home.cli(["wait", "once", "--timeout", "60s"])).toMatchObject({
    code: expect.any(Number),
    stdout: expect.stringContaining("failed"),
  });
  const [pid = 0] = await pidsIn(once, 1);
  expect(lives(pid)).toBe(true);
  expect(await home.ok(["explain", "once"])).toMatch(new RegExp(`has ended \\(code 4\\); still running: pid ${pid} `));
  expect((await home.session("once")).left).toMatchObject([{ pid, isProgram: false, command: "sleep 1000" }]);
});

test("stop and rm on an ended session end the processes that its runs left behind (mend 21)", async () => {
  await using home = new TestHome();
  const [one, two] = [path.join(home.root, "one"), path.join(home.root, "two")];
  // The second run of `one` leaves no process behind.
  await home.run(`if [ -s ${one} ]; then exit 0; fi; ${leaving(one, 0)}`, "--name", "one");
  await home.run(leaving(two, 0), "--name", "two", "--host", "native");
  await Promise.all([home.ended("one"), home.ended("two")]);
  const [[first = 0], [second = 0]] = await Promise.all([pidsIn(one, 1), pidsIn(two, 1)]);
  expect(await home.ok(["show", "one"])).toContain(`pid ${first}: sleep 1000`);
  expect(await home.ok(["resume", "one"])).toContain(`pid ${first}: sleep 1000`);
  await home.ended("one");
  expect(lives(first)).toBe(true);
  expect(await home.ok(["stop", "one"])).toBe("one stopped (1 process)\n");
  expect(lives(first)).toBe(false);
  expect(await home.cli(["stop", "one"])).toMatchObject({ code: 0, stdout: expect.stringContaining("one has ended") });
  expect(lives(second)).toBe(true);
  await home.ok(["rm", "two"]);
  expect(lives(second)).toBe(false);
});

test("neither resume nor restore starts a second copy beside a program that outlived its keeper (mend 21)", async () => {
  await using home = new TestHome();
  const configuration = path.join(home.env.HOME ?? "", ".config", "holdfast");
  mkdirSync(configuration, { recursive: true });
  // An agent, because restore does not run commands again; it ignores the end of its terminal.
  writeFileSync(path.join(configuration, "config.toml"), `[agents.stubborn]\ncommand = ["sh", "-c", "trap '' HUP; exec sleep 1000"]\n`);
  const { id, pid } = await home.json<Session>(["spawn", "stubborn", "--name", "alone", "--host", "native"]);
  await eventually(() => inspect(Number(pid))?.name === "sleep");
  const { pid: holder } = JSON.parse(readFileSync(path.join(home.path, "holders", `${id}-1.json`), "utf8")) as { pid: number };
  process.kill(holder, "SIGKILL");
  expect(await home.ended("alone")).toMatchObject({ status: "lost" });
  expect(await home.cli(["resume", "alone"])).toMatchObject({
    code: 6,
    stderr: `holdfast: the program of alone is still running without its terminal (pid ${pid})\n  stop it first: holdfast stop alone\n`,
  });
  expect(await home.cli(["restore", "alone"])).toMatchObject({ stdout: expect.stringContaining("is still running without its terminal") });
  expect(await home.session("alone")).toMatchObject({ runs: 1, left: [{ pid, isProgram: true }] });
  await home.ok(["stop", "alone"]);
  expect(lives(Number(pid))).toBe(false);
  expect(await home.ok(["resume", "alone"])).toContain("run 2");
});

test("rm refuses a session whose child sessions still run, and with --tree removes them once they have ended (mend 21)", async () => {
  await using home = new TestHome();
  await home.run(`${HOLDFAST} run --name child -- sleep 1000`, "--name", "top");
  await home.ended("top");
  const names = "sessions that it started are still running: child\n  stop them: holdfast stop top --tree\n";
  expect(await home.cli(["stop", "top"])).toMatchObject({ code: 0, stdout: `top has ended (done); ${names}` });
  expect(await home.cli(["rm", "top"])).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("sessions that top started still run: child"),
  });
  await home.ok(["stop", "top", "--tree"]);
  await home.ok(["rm", "top", "--tree"]);
  expect(await home.json<Session[]>(["ls", "--all"])).toEqual([]);
});

test("several sessions are stopped at once, each with its own exit", async () => {
  await using home = new TestHome();
  const names = Array.from({ length: 24 }, (_, index) => `stubborn-${index}`);
  const ready = path.join(home.root, "ready");
  await Promise.all(names.map((name) => home.run(`trap '' TERM; echo >> ${ready}; while :; do sleep 0.5; done`, "--name", name)));
  await eventually(() => existsSync(ready) && readFileSync(ready, "utf8").length === names.length);
  const before = performance.now();
  const stopped = await home.json<Stopped[]>(["stop", "--all", "--grace", "1s"]);
  expect(performance.now() - before).toBeLessThan((names.length * 1000) / 2);
  expect(stopped.filter(({ exit }) => exit?.signal !== "SIGKILL")).toEqual([]);
  expect(stopped.length).toBe(names.length);
});

test("stop of an ended session reports it and succeeds", async () => {
  await using home = new TestHome();
  await home.run("exit 0", "--name", "over");
  await home.ended("over");
  expect(await home.cli(["stop", "over"])).toEqual({
    code: 0,
    stdout: "over has ended (done)\n  read its output: holdfast logs over\n",
    stderr: "",
  });
  expect(await home.json<Stopped[]>(["stop", "over"])).toMatchObject([{ name: "over", status: "done", killed: [] }]);
  await home.ok(["create", "demo", "--name", "later"]);
  expect(await home.cli(["stop", "later"])).toMatchObject({ code: 6, stderr: expect.stringContaining("has not been started") });
});

test("two simultaneous stops of one session both succeed or report that it has ended", async () => {
  await using home = new TestHome();
  await home.run("trap '' TERM; echo ready; while :; do sleep 0.05; done", "--name", "one");
  await eventually(async () => (await home.ok(["logs", "one"])).includes("ready"));
  const [first, second] = await Promise.all([home.cli(["stop", "one", "--grace", "300ms"]), home.cli(["stop", "one", "--grace", "300ms"])]);
  expect([first.code, second.code].every((code) => code === 0 || code === 6)).toBe(true);
  expect([first.code, second.code]).toContain(0);
  expect((await home.session("one")).status).toBe("stopped");
});

test("cancel reports that an agent ignores it, names its attempts and offers stop; it succeeds once the agent obeys (mend 13)", async () => {
  await using home = new TestHome();
  const obeys = path.join(home.root, "obeys");
  const script = `stty raw -echo; printf 'working\\r\\n'; while :; do dd bs=1 count=1 2>/dev/null; [ -e '${obeys}' ] && printf '\\033[2J\\033[Hready\\r\\n'; done`;
  const rules = ["working", "idle"].map(
    (turn) => `[[agents.deaf.screen]]\nline = "^${turn === "idle" ? "ready" : turn}"\nturn = "${turn}"\n`,
  );
  const agent = `[agents.deaf]\ncommand = ["sh", "-c", ${JSON.stringify(script)}]\ninterrupt = ["Escape"]\n\n${rules.join("\n")}`;
  mkdirSync(path.join(home.env.HOME ?? "", ".config/holdfast"), { recursive: true });
  writeFileSync(path.join(home.env.HOME ?? "", ".config/holdfast/config.toml"), agent);
  await home.ok(["spawn", "deaf", "--name", "api"]);
  await home.until("api", ({ status }) => status === "working");
  using client = home.client();
  const refused = client.call("cancelTurn", { params: { ref: "api" }, body: { waitMs: 300 } });
  await expect(refused).rejects.toMatchObject({
    code: "cancel_ignored",
    message: expect.stringContaining("api keeps working: pressed its interrupt key, pressed it again"),
    hint: expect.stringContaining("holdfast stop api"),
    details: { steps: ["keys", "keys_again"] },
  });
  expect(await home.session("api")).toMatchObject({ status: "working" });
  writeFileSync(obeys, "");
  expect(await home.ok(["cancel", "api"])).toContain("api: interrupted");
  expect(await home.session("api")).toMatchObject({ status: "idle" });
  expect(await home.ok(["cancel", "api"])).toBe("api: no turn is running\n");
});
