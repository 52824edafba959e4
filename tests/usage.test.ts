import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AnyEvent, Digest, Session, UsageReport } from "@holdfast/contract";
import { expect, test } from "vitest";
import { openTerminal } from "./attached.ts";
import { eventually, HOLDFAST, TestHome } from "./home.ts";

const OPUS = "model=claude-opus-4-5,input=1000,output=200,cacheRead=5000,cacheWrite=100";
const OPUS_COST = (1000 * 5 + 200 * 25 + 5000 * 0.5 + 100 * 6.25) / 1e6;

/** An idle demo agent; each of its turns has this usage. */
async function demo(home: TestHome, name: string, usage?: string): Promise<Session> {
  await home.ok(["spawn", "demo", "--name", name, "--", "--fast", ...(usage === undefined ? [] : ["--usage", usage])]);
  return home.until(name, ({ status }) => status === "idle");
}

function spentBy(home: TestHome, name: string, turns: number): Promise<NonNullable<Session["spent"]>> {
  return eventually(async () => {
    const { spent } = await home.session(name);
    return spent !== null && spent.turns >= turns && spent;
  });
}

function configure(home: TestHome, text: string): void {
  const file = path.join(home.env.HOME ?? "", ".config/holdfast/config.toml");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

async function recorded(home: TestHome): Promise<AnyEvent[]> {
  const lines = (await home.ok(["events", "--type", "usage.recorded"])).trim().split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line) as AnyEvent);
}

test("tokens and cost of a terminal agent are counted by turn, and shown in its record, ls --wide and show (TURN-06 conversations)", async () => {
  await using home = new TestHome();
  await demo(home, "api", `${OPUS},context=6300,contextSize=200000`);
  expect((await home.session("api")).spent).toBeNull();
  await home.ok(["send", "api", "fix the login bug", "--wait"]);
  const first = await spentBy(home, "api", 1);
  expect(first).toEqual({
    turns: 1,
    input: 1000,
    output: 200,
    cacheRead: 5000,
    cacheWrite: 100,
    unknownTokens: 0,
    cost: OPUS_COST,
    unknownCosts: 0,
    estimated: false,
    context: { used: 6300, size: 200_000 },
  });
  await home.ok(["send", "api", "and write tests", "--wait"]);
  expect(await spentBy(home, "api", 2)).toMatchObject({ input: 2000, cost: 2 * OPUS_COST });
  const turns = await home.json<UsageReport>(["usage", "api"]);
  expect(Object.keys(turns).sort()).toEqual(["by", "rows", "since", "total", "unpriced"]);
  expect(turns).toMatchObject({ by: "turn", rows: [{ label: "api, turn 1" }, { label: "api, turn 2" }], total: { turns: 2 } });
  expect(Object.keys(turns.rows[0] ?? {}).sort()).toEqual(
    "cacheRead cacheWrite cost estimated input key label output turns unknownCosts unknownTokens".split(" "),
  );
  expect(await home.ok(["show", "api"])).toMatch(
    /tokens +2k in, 400 out, 200 into a cache, 10k from a cache\ncost +\$0\.03\ncontext +6\.3k of 200k \(3 %\)/,
  );
  expect(await home.ok(["ls", "--wide"])).toMatch(/TOKENS +COST.*\n.* 2\.6k +\$0\.03/);
});

test("unknown prices and unreported tokens are counted and shown as unknown", async () => {
  await using home = new TestHome();
  await demo(home, "api", "model=scripted,input=10,output=5");
  await demo(home, "web", `${OPUS},output=?`);
  await demo(home, "known", OPUS);
  for (const name of ["api", "web", "known"]) {
    await home.ok(["send", name, "hello", "--wait"]);
    await spentBy(home, name, 1);
  }
  const report = await home.json<UsageReport>(["usage", "--by", "session"]);
  expect(report.total).toMatchObject({ turns: 3, cost: OPUS_COST, unknownCosts: 2, unknownTokens: 1 });
  expect(report.unpriced).toEqual(["scripted"]);
  expect(report.rows.map(({ label, cost }) => [label, cost])).toEqual([
    ["known", OPUS_COST],
    ["web", null],
    ["api", null],
  ]);
  const text = await home.ok(["usage", "--by", "session"]);
  expect(text).toMatch(/^web +1 .*\?$/m);
  expect(text).toMatch(/^total +3 .*≥\$0\.01$/m);
  expect(text).toContain("at least $0.01, 2 turns of unknown cost");
  expect(text).toContain('set one in config.toml: [prices."scripted"]');
  expect(await home.ok(["show", "api"])).toMatch(/cost +1 turn of unknown cost/);
  const [event] = await recorded(home);
  expect(event?.data).toMatchObject({ turn: "1", model: "scripted", input: 10, output: 5, cost: null, source: "transcript", name: "api" });
});

test("a price in config.toml applies to past usage too, and an invalid one is refused with its key", async () => {
  await using home = new TestHome();
  await demo(home, "api", "model=scripted,input=1000000,output=0");
  await home.ok(["send", "api", "hello", "--wait"]);
  expect(await spentBy(home, "api", 1)).toMatchObject({ cost: null, unknownCosts: 1 });
  await home.ok(["down"]);
  configure(home, '[prices."scripted"]\ninput = 2.5\noutput = 10\nin_put = 3\n');
  const { stderr } = await home.cli(["up"]);
  expect(stderr).toMatch(/there is no setting prices\.scripted\.in_put; it is ignored; did you mean input\?/);
  expect(await home.json<UsageReport>(["usage"])).toMatchObject({ total: { cost: 2.5, unknownCosts: 0 }, unpriced: [] });
  await home.ok(["down"]);
  configure(home, '[prices."scripted"]\ninput = "much"\n');
  const refused = await home.cli(["up"]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('prices."scripted".input is not a price: "much"') });
  configure(home, "");
});

test("usage of a removed session stays in the sums by day, agent and model", async () => {
  await using home = new TestHome();
  const { id } = await demo(home, "api", OPUS);
  await home.ok(["send", "api", "hello", "--wait"]);
  await spentBy(home, "api", 1);
  await home.ok(["stop", "api"]);
  await home.ok(["rm", "api"]);
  const days = await home.json<UsageReport>(["usage"]);
  expect(days.rows).toMatchObject([{ key: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), turns: 1, cost: OPUS_COST }]);
  expect((await home.json<UsageReport>(["usage", "--by", "agent"])).rows).toMatchObject([{ key: "demo", input: 1000 }]);
  expect((await home.json<UsageReport>(["usage", "--by", "model"])).rows).toMatchObject([{ key: "claude-opus-4-5" }]);
  expect((await home.json<UsageReport>(["usage", "--by", "session"])).rows).toMatchObject([{ key: id, label: "api" }]);
  expect(await home.ok(["usage", "--by", "group"])).toMatch(/^No usage in groups\. In all: 1k in/);
  expect((await home.json<UsageReport>(["usage", "--since", "1ms"])).rows).toEqual([]);
  expect(await home.ok(["usage", "--since", "1ms"])).toBe("No usage reported in that time.\n");
});

test("each call counts once, across daemon kills, a resume and a fork", async () => {
  await using home = new TestHome();
  await demo(home, "api", OPUS);
  for (let turn = 1; turn <= 3; turn++) {
    await home.ok(["send", "api", `turn ${turn}`, "--wait"]);
    await home.killDaemon();
  }
  await spentBy(home, "api", 3);
  await home.ok(["stop", "api"]);
  await home.ok(["resume", "api"]);
  await home.until("api", ({ status }) => status === "idle");
  await home.ok(["send", "api", "turn 4", "--wait"]);
  expect(await spentBy(home, "api", 4)).toMatchObject({ turns: 4, input: 4000, unknownCosts: 0 });
  await home.ok(["fork", "api", "--name", "copy"]);
  await home.until("copy", ({ status }) => status === "idle");
  await home.ok(["send", "copy", "hello", "--wait"]);
  expect(await spentBy(home, "copy", 1)).toMatchObject({ turns: 1, input: 1000 });
  expect((await home.json<UsageReport>(["usage", "--since", "all"])).total).toMatchObject({ turns: 5, input: 5000 });
  const runs = (await recorded(home)).map(({ data }) => data.run);
  expect(runs).toEqual([1, 1, 1, 2, 1]);
});

test("the digest shows the usage since the last view and a used-up budget (SYM-07 conversations)", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "demo", "--name", "api", "--budget", "turns=3", "--", "--fast", "--usage", OPUS]);
  await home.until("api", ({ status }) => status === "idle");
  expect(await home.json<Digest>(["digest", "api"])).toMatchObject({ spent: null });
  await home.ok(["send", "api", "first", "--wait"]);
  await spentBy(home, "api", 1);
  using client = home.client();
  await client.call("lookAtSession", { params: { ref: "api" }, body: {} });
  expect(await home.json<Digest>(["digest", "api"])).toMatchObject({ spent: null, troubles: [] });
  for (const turn of ["second", "third"]) await home.ok(["send", "api", turn, "--wait"]);
  await home.until("api", ({ status, spent }) => status === "stopped" && spent?.turns === 3);
  const digest = await home.json<Digest>(["digest", "api"]);
  expect(digest.spent).toMatchObject({ turns: 2, input: 2000, cost: 2 * OPUS_COST, unknownCosts: 0 });
  expect(digest.troubles).toMatchObject([{ kind: "budget", text: "turn limit 3 reached (3 used): stopped" }]);
  const text = await home.ok(["digest", "api"]);
  expect(text).toContain("used 2k in, 400 out, 200 into a cache, 10k from a cache; $0.03");
  expect(text).toContain("budget: turn limit 3 reached (3 used): stopped");
});

test("a session sees only the usage of itself and its children", async () => {
  await using home = new TestHome();
  await demo(home, "other", OPUS);
  await home.ok(["send", "other", "hello", "--wait"]);
  await spentBy(home, "other", 1);
  const own = path.join(home.root, "own.json");
  const shell = await home.run(
    `${HOLDFAST} usage --by session --json > ${own}; ${HOLDFAST} usage other > refused 2>&1; echo $? > code`,
    "--name",
    "agent",
  );
  await home.ended(shell.id);
  expect(JSON.parse(readFileSync(own, "utf8"))).toMatchObject({ rows: [], total: { turns: 0 } });
  expect(readFileSync(path.join(home.root, "code"), "utf8")).toBe("20\n");
});

test("on a terminal usage draws bars of the available width, without colour if NO_COLOR is set", async () => {
  await using home = new TestHome();
  await demo(home, "dear", OPUS);
  await demo(home, "cheap", "model=claude-haiku-4-5,input=1000,output=0");
  for (const name of ["dear", "cheap"]) {
    await home.ok(["send", name, "hello", "--wait"]);
    await spentBy(home, name, 1);
  }
  using terminal = openTerminal(home, { columns: 100, rows: 30 });
  await terminal.command('clear; NO_COLOR=1 holdfast usage --by session; echo "the"" end"');
  const screen = await terminal.shows(/^the end$/m);
  expect(screen).toMatch(/^dear .*\$0\.01 {2}█{20,}$/m);
  expect(screen).toMatch(/^cheap .*\$0\.0010 {2}█*[▏▎▍▌▋▊▉]?$/m);
  expect(await home.ok(["usage", "--by", "session"])).not.toMatch(/█/);
});

test("usage refuses unknown arguments and lists the valid ones", async () => {
  await using home = new TestHome();
  const unknown = await home.cli(["usage", "--by", "week"]);
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('--by does not take "week"') });
  expect(unknown.stderr).toContain("day");
  expect(await home.cli(["usage", "a", "b"])).toMatchObject({ code: 2 });
  expect(await home.cli(["usage", "nobody"])).toMatchObject({ code: 3 });
  expect(await home.ok(["usage"])).toBe("No usage reported in that time.\n");
  using client = home.client();
  await expect(client.call("getUsage", { query: { timeZone: "Mars/Olympus" } })).rejects.toMatchObject({ code: "usage" });
});
