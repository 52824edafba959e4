import { type ChildProcessWithoutNullStreams, execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { dangerousLines, harmIn, REORDERING } from "./dangerous.ts";
import { eventually, HOLDFAST, TestHome } from "./home.ts";

/** The output of a process as it arrives. */
class Output {
  text = "";
  readonly ended: Promise<number | null>;

  constructor(child: ChildProcessWithoutNullStreams) {
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      this.text += chunk;
    });
    this.ended = new Promise((resolve) => child.on("close", resolve));
  }

  async has(text: string): Promise<void> {
    await eventually(() => this.text.includes(text));
  }
}

/** The bytes come from a file, so that no shell changes them. Echo is off: the terminal's replies to queries are not output. */
async function said(home: TestHome, bytes: string | Uint8Array, name: string): Promise<void> {
  const file = path.join(home.root, name);
  writeFileSync(file, bytes);
  await home.run(`stty -opost -echo; cat ${file}`, "--name", name);
  await home.ended(name);
}

test("logs prints the text as a person would read it at the end; --raw prints every byte", async () => {
  await using home = new TestHome();
  const bytes = "start\r\n 10%\r 50%\r100%\r\n\x1b[31mred\x1b[0m\r\nspin |\b/\b-\b\\\bdone\r\nend\r\n";
  await said(home, bytes, "build");
  expect(await home.ok(["logs", "build"])).toBe("start\n100%\nred\nspin done\nend\n");
  expect(await home.ok(["logs", "build", "--raw"])).toBe(bytes);
});

test("--raw prints every byte a program wrote", async () => {
  await using home = new TestHome();
  const bytes = Buffer.from(Array.from({ length: 64 * 1024 }, (_, index) => (index * 7 + (index >> 8)) & 0xff));
  await said(home, bytes, "bytes");
  const raw = execFileSync(HOLDFAST, ["logs", "bytes", "--raw"], { env: home.env, cwd: home.root, maxBuffer: 1 << 24 });
  expect(raw.equals(bytes)).toBe(true);
});

test("--tail prints the last lines, of text and of bytes", async () => {
  await using home = new TestHome();
  await said(home, Array.from({ length: 50 }, (_, index) => `\x1b[1mline ${index}\x1b[0m\r\n`).join(""), "fifty");
  expect(await home.ok(["logs", "fifty", "--tail", "2"])).toBe("line 48\nline 49\n");
  expect(await home.ok(["logs", "fifty", "-n", "1", "--raw"])).toBe("\x1b[1mline 49\x1b[0m\r\n");
  expect(await home.ok(["logs", "fifty", "--tail", "0"])).toBe("");
  expect((await home.ok(["logs", "fifty", "--tail", "1000"])).split("\n").length).toBe(51);
  expect(await home.ok(["logs", "fifty", "--tail", "1", "-f"])).toBe("line 49\n");
});

test("--tail finds the last lines even if they are very long, of text and of bytes", async () => {
  await using home = new TestHome();
  const long = (letter: string) => letter.repeat(1_500_000);
  await said(home, `first\r\n${long("a")}\r\n${long("b")}\r\n${long("c")}\r\n`, "long");
  // A line of text is broken after about a megabyte, without losing its beginning.
  expect((await home.ok(["logs", "long", "--tail", "6"])).replaceAll("\n", "")).toBe(long("a") + long("b") + long("c"));
  expect((await home.ok(["logs", "long", "-f", "--tail", "7"])).startsWith("first\na")).toBe(true);
  for (const flags of [[], ["-f"]]) {
    expect(await home.ok(["logs", "long", "--raw", "--tail", "2", ...flags])).toBe(`${long("b")}\r\n${long("c")}\r\n`);
  }
  expect(await home.ok(["logs", "long", "--tail", "0"])).toBe("");
});

test("logs -f continues when its session is renamed and the daemon is killed", async () => {
  await using home = new TestHome();
  const go = path.join(home.root, "go");
  await home.run(`echo first; while ! [ -e ${go} ]; do sleep 0.02; done; echo second`, "--name", "old");
  const follower = new Output(home.start(["logs", "-f", "old"]));
  await follower.has("first\n");
  await home.ok(["rename", "old", "new"]);
  await home.run("exec sleep 1000", "--name", "old");
  await home.killDaemon();
  writeFileSync(go, "");
  expect(await follower.ended).toBe(0);
  expect(follower.text).toBe("first\nsecond\n");
});

test("--since prints recent output", async () => {
  await using home = new TestHome();
  const go = path.join(home.root, "go");
  await home.run(`echo old; while ! [ -e ${go} ]; do sleep 0.02; done; echo new; exec sleep 1000`, "--name", "one");
  await eventually(async () => (await home.ok(["logs", "one"])).includes("old"));
  await eventually(async () => (await home.ok(["logs", "one", "--since", "3s"])) === "");
  const before = Date.now();
  writeFileSync(go, "");
  await eventually(async () => (await home.ok(["logs", "one"])) === "old\nnew\n");
  // The command counts back from its own, slightly later start. A very slow start may find nothing, so ask again.
  const since = () => home.ok(["logs", "one", "--since", `${Date.now() - before + 2500}ms`]);
  expect(await eventually(async () => (await since()) || undefined)).toBe("new\n");
  expect(await home.ok(["logs", "one", "--since", "10m"])).toBe("old\nnew\n");
});

test("logs -f prints output until the session ends", async () => {
  await using home = new TestHome();
  const go = path.join(home.root, "go");
  await home.run(`echo first; while ! [ -e ${go} ]; do sleep 0.02; done; echo second; exit 3`, "--name", "one");
  const follower = new Output(home.start(["logs", "-f", "one"]));
  await follower.has("first\n");
  writeFileSync(go, "");
  expect(await follower.ended).toBe(0);
  expect(follower.text).toBe("first\nsecond\n");
  // For an ended session, -f changes nothing.
  expect(await home.ok(["logs", "one", "-f"])).toBe("first\nsecond\n");
});

test.each([
  { what: "text", flags: [] },
  { what: "bytes", flags: ["--raw"] },
])("logs -f survives kill -9 of the daemon: no line of $what is lost or repeated", async ({ flags }) => {
  await using home = new TestHome();
  await home.run("i=0; while [ $i -lt 600 ]; do echo line $i; i=$((i + 1)); sleep 0.005; done", "--name", "counts");
  const follower = new Output(home.start(["logs", "-f", "counts", ...flags]));
  await follower.has("line 50");
  await home.killDaemon();
  await follower.has("line 250");
  await home.killDaemon();
  expect(await follower.ended).toBe(0);
  const lines = follower.text.replaceAll("\r", "").trimEnd().split("\n");
  expect(lines).toEqual(Array.from({ length: 600 }, (_, index) => `line ${index}`));
});

test("a reader that closes the pipe early causes no error", async () => {
  await using home = new TestHome();
  await home.run("seq 200000", "--name", "much");
  await home.ended("much");
  const head = (command: string, lines: number) => {
    const script = `${HOLDFAST} ${command} 2>&1 | head -n ${lines}; echo "code \${PIPESTATUS[0]}"`;
    return execFileSync("bash", ["-c", script], { env: home.env, encoding: "utf8" });
  };
  expect(head("logs much", 2)).toBe("1\n2\ncode 0\n");
  expect(head("logs much --raw", 1)).toBe("1\r\ncode 0\n");
  expect(head("events", 1)).toMatch(/^\{.*\}\ncode 0\n$/);
  await home.run("while :; do echo more; sleep 0.01; done", "--name", "endless");
  expect(head("logs -f endless", 3)).toBe("more\nmore\nmore\ncode 0\n");
});

test("harmful terminal sequences are inert in logs, as text and while following", async () => {
  await using home = new TestHome();
  const lines = dangerousLines();
  await said(home, lines.map((line) => `${line}\r\n`).join(""), "evil");
  const text = await home.ok(["logs", "evil"]);
  expect(harmIn(text)).toEqual([]);
  const reordering = new RegExp(`[${REORDERING.join("")}]`);
  expect(text.trimEnd().split("\n")).toEqual(lines.map((line, index) => (reordering.test(line) ? `${index}<\ufffd>` : `${index}<>`)));
  expect(await home.ok(["logs", "evil", "-f"])).toBe(text);
  expect(await home.ok(["logs", "evil", "--raw"])).toBe(lines.map((line) => `${line}\r\n`).join(""));
});

test("harmful objectives, roles, arguments and names are inert in ls, show, stop and errors", async () => {
  await using home = new TestHome();
  const evil = dangerousLines().join("\r\n");
  const { id } = await home.run("exec sleep 1000", "--name", "one", "--objective", evil, "--role", evil, "--env", `EVIL=${evil}`);
  await home.ok(["run", "--name", "two", "--", "sh", "-c", "exec sleep 1000", evil]);
  for (const args of [["show", "one"], ["show", "two"], ["ls"], ["ls", "--all"], ["show", evil], ["stop", evil]]) {
    const { stdout, stderr } = await home.cli(args);
    expect(stdout + stderr, args.join(" ")).not.toBe("");
    // The words stay, as plain text.
    expect(
      harmIn(stdout + stderr).filter((found) => found !== "MARK"),
      args[0],
    ).toEqual([]);
  }
  // Scripts get the text unchanged.
  expect((await home.session(id)).objective).toBe(evil);
});

test("logs refuses invalid arguments", async () => {
  await using home = new TestHome();
  await home.run("exit 0", "--name", "one");
  const refusals = [
    { args: ["logs"], says: "expected a session\n  usage: holdfast logs NAME" },
    { args: ["logs", "one", "two"], says: "expected one session\n  usage: holdfast logs NAME" },
    { args: ["logs", "one", "--tail", "many"], says: '--tail takes a whole number, not "many"' },
    { args: ["logs", "one", "--tail=-1"], says: '--tail takes a whole number, not "-1"' },
    { args: ["logs", "one", "--since", "yesterday"], says: '--since takes a duration, not "yesterday"\n  for example: 500ms, 5s, 10m, 2h' },
    { args: ["logs", "one", "--run", "2"], says: "one has no run 2\n  it has runs 1 to 1" },
    { args: ["logs", "one", "--run", "0"], says: "one has no run 0\n  it has runs 1 to 1" },
  ];
  for (const { args, says } of refusals) {
    const { code, stdout, stderr } = await home.cli(args);
    expect({ code, stdout, stderr }, args.join(" ")).toEqual({ code: 2, stdout: "", stderr: `holdfast: ${says}\n` });
  }
});
