import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Finding } from "@holdfast/contract";
import { expect, test } from "vitest";
import { TestHome } from "./home.ts";

async function levels(home: TestHome, ...flags: string[]): Promise<Record<string, string>> {
  const { stdout } = await home.cli(["doctor", "--json", ...flags]);
  return Object.fromEntries((JSON.parse(stdout) as Finding[]).map(({ id, level, fixed }) => [id, fixed ? "fixed" : level]));
}

test("a healthy home has no problem, and what stop cannot find is said (CAVE-06 hosts)", async () => {
  await using home = new TestHome();
  const { code, stdout } = await home.cli(["doctor"]);
  expect(code).toBe(0);
  expect(stdout).toContain("scrubbed HOLDFAST_RUN from its environment");
  expect(await levels(home)).toMatchObject({
    versions: "ok",
    tmux: "ok",
    recorder: "ok",
    permissions: "ok",
    holders: "ok",
    orphans: "ok",
    escapes: "note",
  });
});

test("what is wrong is found with its remedy, and mended when asked", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  chmodSync(path.join(home.path, "sessions"), 0o755);
  writeFileSync(path.join(home.path, "holders", "aaaaaaaaaa-1.json"), '{"pid":1,"start":"never","program":1,"socket":"x"}');
  const before = await home.cli(["doctor"]);
  expect(before.code).toBe(1);
  expect(before.stdout).toContain("others can read");
  expect(before.stdout).toContain("holdfast doctor --fix");
  expect(await levels(home)).toMatchObject({ permissions: "problem", holders: "note" });
  expect(await levels(home, "--fix")).toMatchObject({ permissions: "fixed", holders: "fixed" });
  expect(statSync(path.join(home.path, "sessions")).mode & 0o777).toBe(0o700);
  expect(await levels(home)).toMatchObject({ permissions: "ok", holders: "ok" });
});

function configure(home: TestHome, text: string): string {
  const file = path.join(home.env.HOME ?? "", ".config", "holdfast", "config.toml");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

test("a configuration that cannot be read is a finding with its line, and everything else is still looked at", async () => {
  await using home = new TestHome();
  const file = configure(home, 'detach_key = "F12"\nrecording_limit = "64\n');
  const { code, stdout } = await home.cli(["doctor", "--json"]);
  expect(code).toBe(1);
  const findings = JSON.parse(stdout) as Finding[];
  const wrong = findings.filter(({ id }) => id === "configuration" || id === "daemon");
  expect(wrong).toMatchObject([{ level: "problem" }, { level: "problem" }]);
  for (const { what } of wrong) expect(what).toContain(`${file} is not valid TOML, line 2, column `);
  expect(findings.map(({ id }) => id)).toEqual(expect.arrayContaining(["versions", "tmux", "disk", "login", "permissions"]));
  // Whatever needs a daemon says the same and what to do, in two lines.
  const { stderr } = await home.cli(["ls"]);
  expect(stderr).toMatch(/^holdfast: the daemon did not start: .*line 2, column .*\n {2}correct it there.*\n$/);
  configure(home, 'detach_key = "F12"\n');
  expect(await levels(home)).toMatchObject({ configuration: "ok", orphans: "ok" });
  expect(await levels(home)).not.toHaveProperty("daemon");
});

test("a key that means nothing is said at the first use, by up and by doctor, with what it was most likely to be", async () => {
  await using home = new TestHome();
  const file = configure(home, 'recordng_limit = "64M"\n');
  const said = `${file}, line 1: nothing is called recordng_limit, and it is passed over; did you mean recording_limit?`;
  expect((await home.cli(["ls"])).stderr).toBe(`holdfast: ${said}\n`);
  expect((await home.cli(["ls"])).stderr).toBe("");
  expect((await home.cli(["up"])).stderr).toContain(`holdfast: ${said}\n`);
  expect(await home.json(["status"])).toMatchObject({ warnings: [said] });
  const findings = await home.json<Finding[]>(["doctor"]);
  expect(findings.filter(({ id }) => id === "configuration")).toMatchObject([{ level: "warning", what: said }]);
  // As it is now, not as the daemon read it.
  configure(home, 'recording_limit = "64M"\n');
  expect(await levels(home)).toMatchObject({ configuration: "ok" });
  await home.ok(["down"]);
  expect((await home.cli(["up"])).stderr).not.toContain("nothing is called");
});
