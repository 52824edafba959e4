import { expect, test } from "vitest";
import { openTerminal } from "./attached.ts";
import { TestHome } from "./home.ts";

/** The user's settings instead of the test's. */
const PAGED = "env -u HOLDFAST_PAGER -u PAGER -u LESS holdfast";

test("long output on a terminal opens less, and q returns to the shell", async () => {
  await using home = new TestHome();
  await home.run("seq 1 500", "--name", "long");
  await home.ended("long");
  using terminal = openTerminal(home, { rows: 24 });
  await terminal.command(`clear; ${PAGED} logs long; echo "code $?"`);
  const first = await terminal.shows(/^:$/m);
  expect(first).toMatch(/^1\n2\n3\n/);
  terminal.keys("G");
  await terminal.shows(/^500$/m);
  // Ctrl+C belongs to the pager: the pager and its terminal stay.
  terminal.keys("C-c");
  terminal.keys("q");
  await terminal.shows("code 0");
  await terminal.command(`clear; ${PAGED} events; echo "code $?"`);
  await terminal.shows(/^:$/m);
  terminal.keys("q");
  await terminal.shows("code 0");
  await terminal.command(`clear; ${PAGED} --help; echo "code $?"`);
  expect(await terminal.shows(/^:$/m)).toContain("keeps AI coding agents running");
  terminal.keys("q");
  await terminal.shows("code 0");
});

test("short output, --no-pager, cat and pipes open no pager", async () => {
  await using home = new TestHome();
  await home.run("seq 1 500", "--name", "long");
  await home.run("echo hi", "--name", "short");
  await home.ended("long");
  await home.ended("short");
  using terminal = openTerminal(home, { rows: 24 });
  let count = 0;
  const ends = async (line: string, shown: RegExp) => {
    count++;
    await terminal.command(`clear; ${line}; echo end-$((${count})).`);
    expect(await terminal.shows(`end-${count}.`), line).toMatch(shown);
  };
  await ends(`${PAGED} logs short`, /^hi$/m);
  await ends(`${PAGED} logs long --no-pager`, /^500$/m);
  await ends(`${PAGED} --no-pager logs long`, /^500$/m);
  await ends(`${PAGED} --help --no-pager`, /set HOLDFAST_PAGER=cat/);
  await ends("HOLDFAST_PAGER=cat holdfast logs long", /^500$/m);
  await ends("HOLDFAST_PAGER= PAGER=less holdfast logs long", /^500$/m);
  await ends("env -u HOLDFAST_PAGER PAGER=cat holdfast logs long", /^500$/m);
  await ends(`${PAGED} logs long | tail -1`, /^500$/m);
  await ends("HOLDFAST_PAGER='head -2' holdfast logs long", /^1\n2\nend/m);
  await ends(`${PAGED} logs nobody`, /no session has the name/);
});
