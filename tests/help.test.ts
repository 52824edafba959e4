import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openTerminal } from "./attached.ts";
import { ROOT, TestHome } from "./home.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: the test checks that there are none
const ESCAPE = /\x1b/;

/** The commands that `holdfast --help` lists. */
async function commands(home: TestHome): Promise<string[]> {
  const [text = ""] = (await home.ok(["--help"])).split("\nRemote machines\n");
  return [...text.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name = ""]) => name);
}

/** The indented lines below a heading. */
function sectionOf(help: string, heading: string): string[] {
  const lines = help.split("\n");
  const from = lines.indexOf(heading) + 1;
  const to = lines.findIndex((line, index) => index >= from && !line.startsWith("  "));
  return from === 0 ? [] : lines.slice(from, to < 0 ? undefined : to);
}

function flagsIn(help: string): Set<string> {
  return new Set(sectionOf(help, "Flags").flatMap((line) => line.slice(0, line.indexOf("  ", 6)).match(/-{1,2}[a-z][a-z-]*/g) ?? []));
}

/** Four at a time: each command is a process, and there are many. */
async function each(names: readonly string[], check: (name: string) => Promise<void>): Promise<void> {
  const left = [...names];
  const work = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) await check(name);
  };
  await Promise.all([work(), work(), work(), work()]);
}

test("every command has help with usage, flags and examples that it understands", async () => {
  await using home = new TestHome();
  const names = await commands(home);
  const wanted = "spawn run ls show attach detach logs stop rm rename events up down status version completion".split(" ");
  expect(wanted.filter((name) => !names.includes(name))).toEqual([]);
  await each(names, async (name) => {
    const help = await home.ok([name, "--help"]);
    expect(await home.ok(["help", name])).toBe(help);
    expect(help.startsWith(`holdfast ${name}: `)).toBe(true);
    expect(sectionOf(help, "Usage")[0]).toMatch(new RegExp(`^ {2}holdfast ${name}( |$)`));
    const flags = flagsIn(help);
    expect(flags.has("--json") && flags.has("--help") && flags.has("-h"), name).toBe(true);
    const examples = sectionOf(help, "Examples").filter((line) => !line.startsWith("  # "));
    expect(examples.length, name).toBeGreaterThan(0);
    for (const example of examples) {
      const own = new RegExp(`holdfast ${name}(?: (.*))?$`).exec(example.split(/ -- | > | < /)[0] ?? "")?.[1] ?? "";
      expect(example, name).toContain(`holdfast ${name}`);
      const used = own.replace(/'[^']*'/g, "TEXT").match(/(?<=^| )-{1,2}[a-z][a-z-]*/g) ?? [];
      const known = used.every((flag) => flags.has(flag)) ? flags : flagsIn(await home.ok(["help", name, own.split(" ")[0] ?? ""]));
      expect(
        used.filter((flag) => !known.has(flag)),
        example,
      ).toEqual([]);
    }
  });
});

test("usage lines name only flags that the command has", async () => {
  await using home = new TestHome();
  await each(await commands(home), async (name) => {
    const help = await home.ok([name, "--help"]);
    const flags = sectionOf(help, "Flags").flatMap((line) => /--[a-z-]+/.exec(line)?.[0] ?? []);
    const used =
      sectionOf(help, "Usage")
        .join(" ")
        .match(/--[a-z][a-z-]*/g) ?? [];
    expect(
      used.filter((flag) => !flags.includes(flag)),
      name,
    ).toEqual([]);
  });
});

test("help is at most 100 columns wide", async () => {
  await using home = new TestHome();
  const tooWide = (help: string) => help.split("\n").filter((line) => line.length > 100);
  expect(tooWide(await home.ok(["--help"]))).toEqual([]);
  await each(await commands(home), async (name) => expect(tooWide(await home.ok([name, "--help"])), name).toEqual([]));
});

test("help needs no daemon and starts none", async () => {
  await using home = new TestHome();
  const text = await home.ok([]);
  expect(await home.ok(["--help"])).toBe(text);
  expect(await home.ok(["-h"])).toBe(text);
  expect(await home.ok(["help"])).toBe(text);
  await home.ok(["stop", "-h"]);
  await home.ok(["version"]);
  expect(home.processes()).toEqual([]);
});

test("every command's JSON is described in docs/JSON.md", async () => {
  await using home = new TestHome();
  const described = readFileSync(path.join(ROOT, "docs/JSON.md"), "utf8");
  expect((await commands(home)).filter((name) => !described.includes(`\`${name}\``))).toEqual([]);
});

test("a terminal gets colour; a pipe, NO_COLOR and a dumb terminal get none", async () => {
  await using home = new TestHome();
  await home.run("exit 1", "--name", "one");
  await home.ended("one");
  using terminal = openTerminal(home);
  let count = 0;
  const coloured = async (command: string) => {
    await terminal.command(`clear; ${command}; echo end-$((${count} + 1)).`);
    await terminal.shows(`end-${++count}.`);
    return ESCAPE.test(terminal.tmux("capture-pane", "-e", "-p", "-t", "terminal").split("\n").slice(0, -1).join("\n"));
  };
  for (const command of ["holdfast ls --all", "holdfast show one", "holdfast --help", "holdfast show nobody"]) {
    expect(await coloured(command), command).toBe(true);
    expect(await coloured(`NO_COLOR=1 ${command}`), `NO_COLOR=1 ${command}`).toBe(false);
    expect(await coloured(`TERM=dumb ${command}`), `TERM=dumb ${command}`).toBe(false);
    expect(await coloured(`${command} 2>&1 | cat`), `${command} | cat`).toBe(false);
  }
});

test("a new session on a terminal prints how to view it; a script gets only the id", async () => {
  await using home = new TestHome();
  using terminal = openTerminal(home);
  await terminal.command("holdfast run --name build -- sleep 1000");
  expect(await terminal.shows("is running")).toContain("build is running. Attach: holdfast attach build   Read: holdfast logs build");
  await terminal.command("clear; id=$(holdfast run -- sleep 1000 2> /dev/null); holdfast show $id");
  await terminal.shows(/^status +working$/m);
});
