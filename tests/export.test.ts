import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { openEmulator, parseNow } from "@holdfast/cli/render/emulator";
import { HOSTS } from "@holdfast/contract";
import { expect, test } from "vitest";
import { playCast, type Shown } from "./asciinema.ts";
import { openTerminal } from "./attached.ts";
import { DANGEROUS, dangerousLines, harmIn } from "./dangerous.ts";
import { eventually, TestHome } from "./home.ts";
import { endedWith } from "./recording-files.ts";

/** The final screen of a terminal. */
function screenOf(shown: Shown): string[] {
  const terminal = openEmulator({ columns: shown.cols, rows: shown.rows, scrollback: 0 });
  for (const event of shown.events) {
    if (typeof event === "string") parseNow(terminal, event);
    else terminal.resize(event.cols, event.rows);
  }
  const { active } = terminal.buffer;
  const lines = Array.from({ length: active.length }, (_, y) => active.getLine(y)?.translateToString(true).trimEnd() ?? "");
  return lines.filter((line) => line !== "");
}

async function cast(home: TestHome, ref: string): Promise<string> {
  return home.ok(["export", ref, "--asciicast", "-"]);
}

test.each(HOSTS)(
  "a terminal session on the %s host can be replayed, and exported as an asciicast that the reference player plays (NEW-07 durability)",
  async (host) => {
    await using home = new TestHome();
    const go = path.join(home.root, "go");
    const script = [
      "stty -echo",
      "printf '\\033[31mred\\033[0m \\346\\274'",
      // One character is split between two writes.
      "sleep 0.4",
      "printf '\\242 \\377 \\033]0;title\\007\\033[6n\\r\\n'",
      `while ! [ -e ${go} ]; do sleep 0.02; done`,
      "echo after the resize",
    ].join("; ");
    const session = await home.run(script, "--host", host, "--name", "one");
    await eventually(async () => (await home.ok(["logs", "one"])).includes("red 漢"));
    {
      using terminal = openTerminal(home, { columns: 70, rows: 15 });
      await terminal.command("holdfast attach one");
      await eventually(async () => (await home.ok(["replay", "one", "--json"])).includes('"columns":70'));
    }
    writeFileSync(go, "");
    await home.ended("one");

    const text = await cast(home, "one");
    const shown = await playCast(text);
    expect([shown.cols, shown.rows]).toEqual([120, 40]);
    expect(shown.events).toContainEqual({ cols: 70, rows: expect.any(Number) });
    expect(screenOf(shown)).toEqual(["red 漢 \ufffd", "after the resize"]);
    expect(shown.duration).toBeGreaterThan(0.4);
    expect(shown.duration).toBeLessThan(60);
    const [header, ...events] = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)) as [object, ...[number, string, string][]];
    expect(header).toMatchObject({ version: 2, title: "one", timestamp: expect.any(Number), env: { TERM: "xterm-256color" } });
    expect(events.map(([time]) => time)).toEqual(events.map(([time]) => time).toSorted((a, b) => a - b));
    // No gap: a daemon ran all the time.
    expect(shown.markers).toEqual([]);

    using terminal = openTerminal(home);
    await terminal.command(`holdfast replay ${session.id} --speed 100`);
    await terminal.shows(/red 漢[\s\S]*after the resize[\s\S]*the end/);
    terminal.keys("q");
    await terminal.shows("one, run 1: ");
  },
);

test("output from while no daemon ran is marked in the asciicast, and nothing is lost", async () => {
  await using home = new TestHome();
  const go = path.join(home.root, "go");
  const session = await home.run(
    `echo timed; while ! [ -e ${go} ]; do sleep 0.02; done; echo un; sleep 1.1; echo timed; exec sleep 1000`,
    "--name",
    "one",
  );
  await eventually(async () => (await home.ok(["logs", "one"])).includes("timed"));
  await home.killDaemon();
  writeFileSync(go, "");
  await eventually(() => readFileSync(session.outputPath ?? "", "utf8").endsWith("un\r\ntimed\r\n"));
  const shown = await playCast(await cast(home, "one"));
  expect(shown.events.join("")).toBe("timed\r\nun\r\ntimed\r\n");
  expect(shown.markers).toEqual([{ time: expect.any(Number), label: "untimed: when these 11 bytes came is not known" }]);
  const file = path.join(home.root, "one.cast");
  const told = await home.ok(["export", "one", "--asciicast", file]);
  expect(told).toContain("11 bytes in 1 stretch without times, marked; it is still running");
});

test("with damaged, decreasing or missing times every byte is still exported in order", async () => {
  await using home = new TestHome();
  const bytes = Array.from({ length: 100 }, (_, i) => `line ${i}\r\n`).join("");
  const cases = {
    none: [],
    back: ["5000 0 80x24", "6000 100", "1000 200", "1500 300", "9000 880"],
    damaged: ["5000 0 80x24", "x", "6000 500", "5500 400", "7000 99999", "8000 880 0x0", "- 990"],
    huge: ["5000 0 999999999x999999999", "6000 890"],
  };
  for (const [name, times] of Object.entries(cases)) {
    await endedWith(home, { name, bytes, times });
    const shown = await playCast(await cast(home, name));
    expect(shown.events.filter((event) => typeof event === "string").join(""), name).toBe(bytes);
    expect(await home.ok(["export", name, "--text", "-"]), name).toBe(bytes.replaceAll("\r", ""));
  }
  // A clock set back counts as standing still: one second, half a second, seven and a half.
  expect((await playCast(await cast(home, "back"))).duration).toBe(9);
});

test("an asciicast holds nothing that could harm the terminal it is played on", async () => {
  await using home = new TestHome();
  const lines = dangerousLines();
  await endedWith(home, { name: "evil", bytes: lines.map((line) => `${line}\r\n`).join(""), times: ["1000 0 80x24"] });
  const { events } = await playCast(await cast(home, "evil"));
  // Bidi characters are text: a player shows them unchanged.
  expect(events.join("")).toBe(lines.map((line, index) => `${index}<${/[\u2000-\u20ff]/.exec(line)?.[0] ?? ""}>\r\n`).join(""));
});

test("the player accepts the export of an empty recording", async () => {
  await using home = new TestHome();
  await endedWith(home, { name: "empty", bytes: "", times: [] });
  expect((await playCast(await cast(home, "empty"))).events.join("")).toBe("");
  expect(await home.ok(["export", "empty", "--text", "-"])).toBe("");
});

test("a text export equals logs, and an HTML export adds colours; neither can execute anything", async () => {
  await using home = new TestHome();
  const evil = [
    "<script>alert(1)</script><img src=x onerror=alert(1)>&amp;",
    ...dangerousLines(),
    "\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07 https://example.org",
    "\x1b[1;31;44mred\x1b[0m \x1b[38;2;1;2;3mrgb\x1b[0m \x1b[38;5;208mpalette\x1b[0m \x1b[7mback\x1b[0m \x1b[3;4;9mline\x1b[0m \x1b[8mhid\x1b[0m",
    "</pre></body>",
  ];
  await endedWith(home, { name: "evil", bytes: evil.map((line) => `${line}\r\n`).join(""), times: ["1000 0 80x24"] });
  const text = await home.ok(["export", "evil", "--text", "-"]);
  expect(text).toBe(await home.ok(["logs", "evil"]));
  const html = await home.ok(["export", "evil", "--html", "-"]);
  for (const output of [text, html]) {
    expect(harmIn(output)).toEqual([]);
    expect(output).not.toContain("javascript:");
  }
  expect(html).toContain("&#60;script&#62;alert(1)&#60;/script&#62;");
  expect(html).toContain("link https://example.org");
  expect(html).toContain('<span style="color:#cd3131;background:#2472c8;font-weight:bold">red</span>');
  expect(html).toContain('<span style="color:#010203">rgb</span> <span style="color:#ff8700">palette</span>');
  expect(html).toContain('<span style="color:#1e1e1e;background:#d4d4d4">back</span>');
  expect(html).toContain('<span style="font-style:italic;text-decoration:underline line-through">line</span>');
  for (let index = 0; index < DANGEROUS.length; index++) expect(html).toContain(`\n${index}&#60;&#62;\n`);
  const tags = new Set(html.match(/<\/?[a-z!]+/g));
  expect([...tags].sort()).toEqual(
    "<!doctype </body </head </html </pre </span </style </title <body <head <html <meta <pre <span <style <title".split(" "),
  );
  expect(html.match(/<\/pre>/g)).toHaveLength(1);
  expect(html).toContain(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'`);
});

test("an existing file is replaced only with --force, and only by a complete export", async () => {
  await using home = new TestHome();
  await endedWith(home, { name: "one", bytes: "hello\r\n", times: [] });
  const at = (name: string) => path.join(home.root, "out", name);
  mkdirSync(at(""));
  writeFileSync(at("there"), "mine");
  symlinkSync("there", at("link"));
  mkdirSync(at("dir"));
  const refusals = [
    { file: at("there"), code: 5, says: `${at("there")} exists\n  pass --force to replace it` },
    { file: at("link"), code: 5, says: `${at("link")} exists\n  pass --force to replace it` },
    { file: at("dir"), code: 14, says: `${at("dir")} is a directory\n  name a file` },
    { file: at("no/where"), code: 14, says: `${at("no")} does not exist\n  mkdir -p ${at("no")}` },
    { file: "/dev/null", flags: ["--force"], code: 14, says: "/dev/null is not a regular file\n  write to standard output: -" },
  ];
  for (const { file, flags = [], code, says } of refusals) {
    const result = await home.cli(["export", "one", "--text", file, ...flags]);
    expect(result, file).toEqual({ code, stdout: "", stderr: `holdfast: ${says}\n` });
  }
  expect(readFileSync(at("there"), "utf8")).toBe("mine");
  await home.ok(["export", "one", "--text", at("link"), "--force"]);
  expect(readFileSync(at("there"), "utf8")).toBe("hello\n");
  expect(await home.ok(["export", "one", "--text", at("new")])).toBe(`one, run 1, written to ${at("new")}\n`);
  expect(readdirSync(at("")).sort()).toEqual(["dir", "link", "new", "there"]);
});

test("an interrupted export leaves nothing behind", async () => {
  await using home = new TestHome();
  await endedWith(home, { name: "long", bytes: Buffer.alloc(24 << 20, "0123456789abcdef\r\n"), times: [] });
  const directory = path.join(home.root, "out");
  mkdirSync(directory);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    const child = home.start(["export", "long", "--text", path.join(directory, "file")]);
    const ended = new Promise((resolve) => child.on("close", resolve));
    await eventually(() =>
      readdirSync(directory).some((name) => (statSync(path.join(directory, name), { throwIfNoEntry: false })?.size ?? 0) > 0),
    );
    child.kill(signal);
    expect(await ended).toBe(signal === "SIGINT" ? 130 : 143);
    expect(readdirSync(directory)).toEqual([]);
  }
});

test("exporting a long recording takes little memory", async () => {
  await using home = new TestHome();
  const size = 96 << 20;
  const times = Array.from({ length: 20_000 }, (_, i) => `${1000 + i * 250} ${Math.floor(size / 20_000) * i}`);
  await endedWith(home, { name: "long", bytes: Buffer.alloc(size, "0123456789abcdef\r\n"), times: ["1000 0 120x40", ...times] });
  const file = path.join(home.root, "long.cast");
  await home.ok(["export", "long", "--asciicast", file], { env: { NODE_OPTIONS: "--max-old-space-size=32" } });
  expect(statSync(file).size).toBeGreaterThan(size);
});

test("--json reports the written file; impossible exports are refused", async () => {
  await using home = new TestHome();
  const { id } = await endedWith(home, { name: "one", bytes: "hello\r\n", times: ["1000 0 80x24", "2500 7"] });
  const file = path.join(home.root, "one.cast");
  expect(await home.json(["export", "one", "--asciicast", file])).toEqual({
    session: id,
    run: 1,
    format: "asciicast",
    file,
    bytes: statSync(file).size,
    recordingBytes: 7,
    durationMs: 1500,
    untimedBytes: 0,
    gaps: [],
  });
  const refusals = [
    { args: ["export", "one"], says: "expected one format and its file\n  --asciicast FILE, --text FILE or --html FILE" },
    {
      args: ["export", "one", "--text", "a", "--html", "b"],
      says: "expected one format and its file\n  --asciicast FILE, --text FILE or --html FILE",
    },
    { args: ["export", "--text", "-"], says: "expected a session\n  usage: holdfast export NAME --asciicast FILE" },
    { args: ["export", "one", "--text", "-", "--run", "2"], says: "one has no run 2\n  it has runs 1 to 1" },
  ];
  for (const { args, says } of refusals) {
    expect(await home.cli(args), args.join(" ")).toEqual({ code: 2, stdout: "", stderr: `holdfast: ${says}\n` });
  }
  const both = await home.cli(["export", "one", "--text", "-", "--json"]);
  expect([both.code, both.stdout, both.stderr]).toEqual([2, "", expect.stringContaining("--json and - cannot be used together")]);
});
