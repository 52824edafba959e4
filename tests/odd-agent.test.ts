/** Protocol violations by an agent: nothing is lost, and nobody waits forever. */
import { readdirSync } from "node:fs";
import { type Approval, hasEnded, type Message, type PlacedEntry } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { bringOdd } from "./odd-agent.ts";

async function start(home: TestHome, how: string, ...flags: string[]): Promise<void> {
  bringOdd(home);
  await home.ok(["spawn", "--chat", `odd-${how}`, "--name", "odd", ...flags]);
}

async function entries(home: TestHome): Promise<PlacedEntry["entry"][]> {
  const lines = (await home.ok(["transcript", "--json", "odd"])).split("\n").filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as PlacedEntry).entry);
}

test("an unusual permission request is still in the inbox, and the answer reaches the agent", async () => {
  await using home = new TestHome();
  await start(home, "plain", "--prompt", "asks");
  await home.until("odd", ({ attention }) => attention?.for === "approval");
  const [approval] = await home.json<Approval[]>(["approvals"]);
  await home.ok(["approvals", "allow", approval?.id ?? ""]);
  await home.until("odd", ({ status, turns }) => status === "idle" && turns === 1);
  expect(await home.ok(["last", "odd"])).toContain('"optionId":"y"');
});

test("a turn ends with any stop reason, and no content makes the transcript unreadable", async () => {
  await using home = new TestHome();
  await start(home, "plain");
  expect(await home.ok(["send", "odd", "talks", "--wait"])).toBe("talked\n");
  expect(await home.ok(["send", "odd", "nothing", "--wait"])).toBe("\n");
  await home.until("odd", ({ status, turns }) => status === "idle" && turns === 2);
  await home.ok(["stop", "odd"]);
  const { stderr } = await home.cli(["transcript", "odd"]);
  expect(stderr).toBe("");
  expect(readdirSync(home.path)).not.toContain("damaged");
});

test("text after the end of a turn is in the transcript, with that turn", async () => {
  await using home = new TestHome();
  await start(home, "plain", "--prompt", "late");
  const late = await eventually(async () => (await entries(home)).find((entry) => entry.type === "text" && entry.text === ", too late"));
  expect(late.turn).toBe((await entries(home)).find(({ type }) => type === "user")?.turn);
  expect(await home.ok(["transcript", "odd"])).toContain("too late");
});

test("a steering message before the agent is ready waits, and does not cancel its own turn", async () => {
  await using home = new TestHome();
  await start(home, "steers", "--prompt", "waits");
  expect(await home.ok(["send", "odd", "faster", "--steer", "--wait"])).toContain("steered by faster");
  const ends = (await entries(home)).filter(({ type }) => type === "turn_ended");
  expect(ends).toMatchObject([{ reason: "completed" }]);
});

test("a steering message that the agent refuses after a turn becomes the next turn", async () => {
  await using home = new TestHome();
  await start(home, "refuses", "--prompt", "waits");
  await eventually(async () => (await entries(home)).some(({ type }) => type === "text"));
  expect(await home.ok(["send", "odd", "faster", "--steer", "--wait"])).toBe("heard faster\n");
  expect((await entries(home)).filter(({ type }) => type === "user")).toHaveLength(2);
});

test("an agent that exits when its turn is cancelled for another message ends its session, and loses nothing", async () => {
  await using home = new TestHome();
  await start(home, "dies", "--prompt", "waits");
  await eventually(async () => (await entries(home)).some(({ type }) => type === "text"));
  await home.ok(["send", "odd", "faster", "--steer", "--no-wait"]);
  expect(await home.until("odd", ({ status }) => hasEnded(status))).toMatchObject({ exit: { code: 3 } });
  await eventually(async () => (await home.json<Message[]>(["messages"])).at(-1)?.held);
  expect((await entries(home)).at(-1)).toMatchObject({ type: "turn_ended", reason: "interrupted" });
});

test("a missing conversation id is reported with a readable error", async () => {
  await using home = new TestHome();
  await start(home, "nameless", "--prompt", "hello");
  await home.until("odd", ({ status }) => hasEnded(status));
  const error = (await entries(home)).find(({ type }) => type === "error");
  expect(error).toMatchObject({ message: expect.stringContaining("(no sessionId)") });
});
