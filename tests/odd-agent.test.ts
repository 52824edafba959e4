/** What an agent sends that is not what the protocol has: nothing of it is lost, and nobody waits for ever. */
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

test("leave that is asked for in an odd way is in the inbox all the same, and the answer reaches the agent", async () => {
  await using home = new TestHome();
  await start(home, "plain", "--prompt", "asks");
  await home.until("odd", ({ attention }) => attention?.for === "approval");
  const [approval] = await home.json<Approval[]>(["approvals"]);
  await home.ok(["approvals", "allow", approval?.id ?? ""]);
  await home.until("odd", ({ status, turns }) => status === "idle" && turns === 1);
  expect(await home.ok(["last", "odd"])).toContain('"optionId":"y"');
});

test("a turn ends whatever reason its agent gives, and nothing that it said makes the transcript unreadable", async () => {
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

test("what an agent says after the end of its turn is in the transcript, with that turn", async () => {
  await using home = new TestHome();
  await start(home, "plain", "--prompt", "late");
  const late = await eventually(async () => (await entries(home)).find((entry) => entry.type === "text" && entry.text === ", too late"));
  expect(late.turn).toBe((await entries(home)).find(({ type }) => type === "user")?.turn);
  expect(await home.ok(["transcript", "odd"])).toContain("too late");
});

test("what steers before the agent is there waits for it, and does not cancel the turn that it belongs to", async () => {
  await using home = new TestHome();
  await start(home, "steers", "--prompt", "waits");
  expect(await home.ok(["send", "odd", "faster", "--steer", "--wait"])).toContain("steered by faster");
  const ends = (await entries(home)).filter(({ type }) => type === "turn_ended");
  expect(ends).toMatchObject([{ reason: "completed" }]);
});

test("words that an agent does not take into a turn that is just over are its next turn", async () => {
  await using home = new TestHome();
  await start(home, "refuses", "--prompt", "waits");
  await eventually(async () => (await entries(home)).some(({ type }) => type === "text"));
  expect(await home.ok(["send", "odd", "faster", "--steer", "--wait"])).toBe("heard faster\n");
  expect((await entries(home)).filter(({ type }) => type === "user")).toHaveLength(2);
});

test("an agent that ends when its turn is cancelled for other words ends its session, and takes nothing with it", async () => {
  await using home = new TestHome();
  await start(home, "dies", "--prompt", "waits");
  await eventually(async () => (await entries(home)).some(({ type }) => type === "text"));
  await home.ok(["send", "odd", "faster", "--steer", "--no-wait"]);
  expect(await home.until("odd", ({ status }) => hasEnded(status))).toMatchObject({ exit: { code: 3 } });
  await eventually(async () => (await home.json<Message[]>(["messages"])).at(-1)?.held);
  expect((await entries(home)).at(-1)).toMatchObject({ type: "turn_ended", reason: "interrupted" });
});

test("an agent that begins a conversation without a name for it is told of in words for people", async () => {
  await using home = new TestHome();
  await start(home, "nameless", "--prompt", "hello");
  await home.until("odd", ({ status }) => hasEnded(status));
  const error = (await entries(home)).find(({ type }) => type === "error");
  expect(error).toMatchObject({ message: expect.stringContaining("(no sessionId)") });
});
