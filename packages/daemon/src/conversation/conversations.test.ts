import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type EntryDraft, HoldfastError, type Principal } from "@holdfast/contract";
import { describe, expect, test, vi } from "vitest";
import { RUN, SESSION, SOMEBODY, World } from "../../test/conversation-world.ts";
import type { ConversationRequest } from "./keeper.ts";

const eventually = <T>(question: () => T) => vi.waitFor(question, { timeout: 10_000, interval: 5 });
const opened = { type: "note", about: "opened", text: "the conversation begins", conversation: "c1" } as const;
const over = (reason: "completed" | "failed" | "cancelled" | "max_tokens" = "completed") => ({ type: "turn_ended", reason }) as const;
const asks: Extract<EntryDraft, { type: "approval_asked" }> = {
  type: "approval_asked",
  ask: "a1",
  call: "t1",
  title: "Run ls",
  kind: "execute",
  input: { command: "ls" },
  options: [{ id: "y", name: "Yes", kind: "allow_once" }],
};

/** Sends a message, and waits until the agent has it. */
async function said(world: World, text: string, options?: { steer: boolean }): Promise<string> {
  const id = world.queue(text, options);
  await eventually(() => expect(world.messages.get(id)?.state).toBe("turn_started"));
  return id;
}

describe("entries of a keeper", () => {
  const line = JSON.stringify({ v: 1, n: 1, at: new Date().toISOString(), turn: null, ...opened });

  test("new entries become events after readers of the transcript can see them", async () => {
    using world = new World();
    const conversations = world.begin();
    world.raw(`${line}\n`);
    conversations.wrote(RUN);
    conversations.wrote(RUN);
    expect(world.queries.get(SESSION)?.conversation).toBeNull();
    await eventually(() => expect(world.queries.get(SESSION)?.conversation).toBe("c1"));
    expect(world.events("session.conversation_changed")).toHaveLength(1);
  });

  test("entries become events before the run's end is recorded", () => {
    using world = new World();
    const conversations = world.begin();
    world.raw(`${line}\n`);
    conversations.wrote(RUN);
    conversations.ended(RUN);
    expect(world.queries.get(SESSION)?.conversation).toBe("c1");
  });
});

describe("messages to a conversation", () => {
  test("a message is handed over, begins a turn, and is answered with the agent's last text", async () => {
    using world = new World();
    world.begin();
    world.write(opened);
    expect(world.queries.get(SESSION)).toMatchObject({ status: "idle", conversation: "c1" });
    const id = await said(world, "hello");
    expect(world.told).toEqual([
      { t: "prompt", message: id, from: SOMEBODY, text: "hello", addition: null, words: "said: hello", steer: false },
    ]);
    expect(world.queries.get(SESSION)?.status).toBe("working");
    world.write({ type: "text", text: "hi " }, { type: "text", text: "there" }, over());
    expect(world.messages.get(id)).toMatchObject({ state: "replied", reply: "hi there", via: "protocol" });
    expect(world.queries.get(SESSION)?.status).toBe("idle");
    expect(world.events("session.replied")).toMatchObject([{ data: { reply: "hi there", cut: false } }]);
    expect(world.events("turn.started", "turn.ended").map(({ type }) => type)).toEqual(["turn.started", "turn.ended"]);
  });

  test("a message is handed over at once if its sender asks for it, and only once", async () => {
    using world = new World();
    const conversations = world.begin();
    world.write(opened);
    // Wait until the work of begin() is done.
    await nextTurn();
    const id = world.queue("hello");
    conversations.attend(SESSION);
    expect(world.told).toMatchObject([{ t: "prompt", message: id }]);
    await eventually(() => expect(world.messages.get(id)?.state).toBe("turn_started"));
    world.write(over());
    expect(world.messages.get(id)?.state).toBe("replied");
    expect(world.told).toHaveLength(1);
  });

  test("messages wait for the end of the turn, in the order in which they were sent", async () => {
    using world = new World();
    world.begin();
    await said(world, "one");
    const [two, three] = [world.queue("two"), world.queue("three")];
    await eventually(() => expect(world.messages.get(three)?.state).toBe("queued"));
    expect(world.told).toHaveLength(1);
    world.write(over());
    await eventually(() => expect(world.messages.get(two)?.state).toBe("turn_started"));
    expect(world.messages.get(three)?.state).toBe("queued");
    world.write(over());
    await eventually(() => expect(world.messages.get(three)?.state).toBe("turn_started"));
    expect(world.told.map((each) => (each as { text: string }).text)).toEqual(["one", "two", "three"]);
  });

  test("steering messages overtake waiting ones, and are answered with the running turn", async () => {
    using world = new World();
    world.begin();
    const one = await said(world, "one");
    const waits = world.queue("waits");
    const steers = await said(world, "steers", { steer: true });
    world.write({ type: "text", text: "both" }, over());
    expect([one, steers].map((id) => world.messages.get(id)?.reply)).toEqual(["both", "both"]);
    await eventually(() => expect(world.messages.get(waits)?.state).toBe("turn_started"));
  });

  test("messages of a failed turn fail with its error; those of a turn that was too long are answered", async () => {
    using world = new World();
    world.begin();
    const fails = await said(world, "one");
    world.write({ type: "error", code: "x", message: "no quota", hint: null, retry: true }, over("failed"));
    expect(world.messages.get(fails)).toMatchObject({ state: "failed", why: "no quota", known: true });
    expect(world.events("session.turn_failed")).toMatchObject([{ data: { why: "no quota" } }]);
    const cancelled = await said(world, "two");
    world.write(over("cancelled"));
    expect(world.messages.get(cancelled)).toMatchObject({ state: "failed", why: "the turn was cancelled" });
    const long = await said(world, "three");
    world.write({ type: "text", text: "half" }, over("max_tokens"));
    expect(world.messages.get(long)).toMatchObject({ state: "replied", reply: "half" });
  });

  test("a message that the keeper refuses waits until the turn is over", async () => {
    using world = new World();
    let isBusy = true;
    world.keep = async (request) => {
      if (isBusy) throw new HoldfastError("turn_runs", "a turn runs");
      return world.take(request);
    };
    world.begin();
    const id = world.queue("hello");
    await eventually(() => expect(world.events("message.requeued")).toMatchObject([{ data: { id, why: "a turn runs" } }]));
    expect(world.messages.get(id)?.state).toBe("queued");
    isBusy = false;
    world.write(over());
    await eventually(() => expect(world.messages.get(id)?.state).toBe("turn_started"));
  });

  test("a peer's message that a turn does not take is tried once in it, and does not block messages of others", async () => {
    using world = new World();
    const peers: boolean[] = [];
    world.keep = async (request) => {
      const isPeers = request.t === "prompt" && request.patient === true;
      peers.push(isPeers);
      if (isPeers && peers.length === 2) throw new HoldfastError("turn_runs", "a turn runs");
      return world.take(request);
    };
    world.begin();
    const first = world.queue("begin");
    await eventually(() => expect(world.messages.get(first)?.state).toBe("turn_started"));
    const psst = world.queue("psst", { steer: true, from: "session:zzzzzzzzzz" as Principal });
    await eventually(() => expect(world.events("message.requeued")).toHaveLength(1));
    const more = world.queue("more", { steer: true });
    await eventually(() => expect(world.messages.get(more)?.state).toBe("turn_started"));
    expect([peers, world.events("message.requeued").length, world.messages.get(psst)?.state]).toEqual([[false, true, false], 1, "queued"]);
    world.write(over());
    await eventually(() => expect(world.messages.get(psst)?.state).toBe("turn_started"));
  });

  test("a message that cannot be handed over is tried again", async () => {
    using world = new World();
    let isThere = false;
    world.keep = async (request) => {
      if (!isThere) throw new HoldfastError("internal", "the socket is gone");
      return world.take(request);
    };
    world.begin();
    const id = world.queue("hello");
    await eventually(() => expect(world.events("message.requeued")).toHaveLength(1));
    isThere = true;
    await eventually(() => expect(world.messages.get(id)?.state).toBe("turn_started"));
  });

  test("a message on its way when the daemon died is repeated by the next one, and delivered once", async () => {
    using world = new World();
    world.keep = () => new Promise(() => {});
    world.begin();
    const id = world.queue("hello");
    await eventually(() => expect(world.messages.get(id)?.state).toBe("injecting"));
    world.kill();
    world.keep = async (request) => world.take(request);
    world.begin();
    await eventually(() => expect(world.messages.get(id)?.state).toBe("turn_started"));
    expect(world.told.map((each) => (each as { message: string }).message)).toEqual([id, id]);
    expect(world.events("message.injecting")).toHaveLength(1);
  });

  test("messages to a session whose agent has died wait for its next run, even one on its way", async () => {
    using world = new World();
    world.begin();
    const running = await said(world, "one");
    const waits = world.queue("two");
    world.end(1, "lost");
    await eventually(() => expect(world.messages.get(running)).toMatchObject({ state: "failed" }));
    expect(world.messages.get(waits)?.state).toBe("queued");
    world.append("session.run_created", { run: 2, why: "resume" });
    world.keep = () => new Promise(() => {});
    world.append("session.started", { run: 2, pid: 8, pidStart: "x", outputPath: "/out" });
    await eventually(() => expect(world.messages.get(waits)?.state).toBe("injecting"));
    world.kill();
    world.end(2, "lost");
    world.begin();
    await eventually(() => expect(world.messages.get(waits)?.state).toBe("queued"));
  });

  test("messages to an ended session fail", async () => {
    using world = new World();
    world.begin();
    const running = await said(world, "one");
    const waits = world.queue("two");
    world.end(1);
    await eventually(() => expect(world.messages.get(waits)?.state).toBe("failed"));
    expect(world.messages.get(waits)).toMatchObject({ why: "the session has ended", known: true });
    expect(world.messages.get(running)).toMatchObject({ state: "failed", why: "its run ended before it answered", known: true });
  });

  test("messages to a terminal session are left alone", async () => {
    using world = new World("terminal");
    const conversations = world.begin();
    world.queue("hello");
    await conversations.transcriptOf(RUN).size();
    conversations.look(RUN);
    expect(world.told).toEqual([]);
    expect(conversations.turnOf(RUN)).toBeNull();
  });
});

describe("events from a transcript", () => {
  const transcript = (world: World) => {
    world.write(opened);
    world.take({ t: "prompt", message: "m9", from: SOMEBODY, text: "go", addition: null, words: "go", steer: false });
    world.write(
      { type: "tool_started", call: "t", title: "Run", kind: "execute", input: null, files: [] },
      { type: "usage", model: "m", input: 5, output: 6, cacheRead: null, cacheWrite: null, cost: 0.5, context: { used: 9, size: 10 } },
      { type: "tool_output", call: "t", title: null, text: "out", changes: [] },
      { type: "tool_completed", call: "t", ok: true },
      { type: "text", text: "done" },
    );
  };

  test("each entry is in the journal once, whenever the daemon dies and the next one continues", () => {
    using world = new World();
    for (let round = 0; round < 3; round++) {
      world.begin();
      if (round === 0) transcript(world);
      world.kill();
    }
    const conversations = world.begin();
    expect(conversations.turnOf(RUN)).toBe("m9");
    world.write(over());
    const counts = ["turn.started", "tool.started", "tool.output", "tool.completed", "turn.ended", "session.conversation_changed"] as const;
    for (const type of counts) expect(world.events(type), type).toHaveLength(1);
    expect(world.events("session.replied")).toMatchObject([{ data: { reply: "done" } }]);
    expect(new Set(world.events("usage.recorded").map(({ data }) => data.key)).size).toBe(1);
  });

  test("entries written while no daemon ran are found by the next one", () => {
    using world = new World();
    transcript(world);
    world.write(over());
    world.begin();
    expect(world.events("turn.ended")).toMatchObject([{ data: { turn: "m9", reason: "completed", text: "done" } }]);
    expect(world.events("usage.recorded")).toMatchObject([
      { data: { input: 5, cost: 0.5, context: { used: 9, size: 10 }, source: "protocol" } },
    ]);
  });

  test("entries that a full disk keeps out of the journal are written later, and none twice", async () => {
    using world = new World();
    world.begin();
    world.write(opened);
    const append = vi.spyOn(world.journal, "append").mockImplementationOnce(() => {
      throw new Error("database or disk is full");
    });
    transcript(world);
    world.write(over());
    append.mockRestore();
    await eventually(() => expect(world.events("turn.ended")).toHaveLength(1));
    expect(world.events("turn.started")).toHaveLength(1);
  });

  test("a long answer is cut to what the journal keeps", () => {
    using world = new World();
    world.begin();
    world.take({ t: "prompt", message: "m9", from: SOMEBODY, text: "go", addition: null, words: "go", steer: false });
    world.write({ type: "text", text: "x".repeat(1_000_000) }, over());
    const [replied] = world.events("session.replied");
    expect(replied?.data.cut).toBe(true);
    expect(replied?.data.reply.length).toBeLessThan(1_000_000);
  });
});

describe("permission requests of a conversation", () => {
  test("a permission request waits in the inbox, and the agent is told the decision", async () => {
    using world = new World();
    world.begin();
    await said(world, "go");
    world.write(asks);
    const [approval] = world.approvals.list({ open: true });
    expect(approval).toMatchObject({ ask: "a1", channel: "protocol", status: "open" });
    expect(world.queries.get(SESSION)?.status).toBe("waiting");
    world.inbox?.answer(approval?.id ?? "", { decision: "allow", actor: SOMEBODY });
    await eventually(() =>
      expect(world.told.at(-1)).toEqual({ t: "answer", ask: "a1", allow: true, always: false, by: SOMEBODY, reason: null }),
    );
    world.write({ type: "approval_answered", ask: "a1", option: "y", allowed: true, by: SOMEBODY });
    expect(world.queries.get(SESSION)?.status).toBe("working");
    expect(world.approvals.get(approval?.id ?? "")?.status).toBe("allowed");
  });

  test("a permission request that was cancelled with its turn is withdrawn", async () => {
    using world = new World();
    world.begin();
    await said(world, "go");
    world.write(asks, { type: "approval_answered", ask: "a1", option: null, allowed: false, by: null }, over("cancelled"));
    expect(world.approvals.list({ open: true })).toEqual([]);
    expect(world.events("approval.resolved")).toMatchObject([{ data: { how: "withdrawn" } }]);
  });

  const denied = { type: "approval_answered", ask: "a1", option: "n", allowed: false, by: SOMEBODY } as const;
  const reasonsTold = (world: World) => world.events("message.queued").filter(({ data }) => data.text.includes("was denied. Reason:"));

  test("the reason that an answer could not carry follows as one message after the turn, also when the transcript is read again", async () => {
    using world = new World();
    world.begin();
    await said(world, "go");
    world.write(asks);
    world.inbox?.answer(world.approvals.list({ open: true })[0]?.id ?? "", { decision: "deny", reason: "use staging", actor: SOMEBODY });
    await eventually(() => expect(world.told.at(-1)).toMatchObject({ t: "answer", allow: false, reason: "use staging" }));
    world.write({ ...denied, untold: "use staging" });
    const text = '[Holdfast: your request "Run ls" was denied. Reason: use staging]';
    expect(reasonsTold(world)).toMatchObject([{ actor: SOMEBODY, data: { text, steer: false } }]);
    world.kill();
    world.begin();
    expect(world.told.filter(({ t }) => t === "prompt")).toHaveLength(1);
    world.write(over());
    await eventually(() => expect(world.told.filter(({ t }) => t === "prompt")).toMatchObject([{}, { text }]));
    expect(reasonsTold(world)).toHaveLength(1);
  });

  test("an agent that read the reason in the answer gets no message", async () => {
    using world = new World();
    world.begin();
    await said(world, "go");
    world.write(asks);
    world.inbox?.answer(world.approvals.list({ open: true })[0]?.id ?? "", { decision: "deny", reason: "use staging", actor: SOMEBODY });
    world.write(denied, over());
    expect(reasonsTold(world)).toEqual([]);
  });

  test("a reason that died with its keeper is told by a message", async () => {
    using world = new World();
    const conversations = world.begin();
    await said(world, "go");
    world.write(asks);
    world.inbox?.answer(world.approvals.list({ open: true })[0]?.id ?? "", { decision: "deny", reason: "use staging", actor: SOMEBODY });
    conversations.ended(RUN);
    expect(reasonsTold(world)).toHaveLength(1);
  });

  test("a rule's reason is told once per conversation, however often the rule denies", async () => {
    using world = new World();
    const rule = { agent: undefined, tool: undefined, pattern: undefined, directory: undefined, compound: true };
    world.begin([{ ...rule, name: "no-ls", decision: "deny", reason: "use find" }]);
    await said(world, "go");
    const by = "rule:no-ls" as Principal;
    world.write(asks, { ...denied, by, untold: "use find" }, { ...asks, ask: "a2" }, { ...denied, ask: "a2", by, untold: "use find" });
    expect(reasonsTold(world)).toMatchObject([{ actor: by }]);
    world.write({ type: "note", about: "cleared", text: "cleared", conversation: "c2" });
    world.write({ ...asks, ask: "a3" }, { ...denied, ask: "a3", by, untold: "use find" });
    expect(reasonsTold(world)).toHaveLength(2);
  });

  test("a decision is repeated to a keeper that could not be reached", async () => {
    using world = new World();
    world.begin();
    await said(world, "go");
    world.write(asks);
    let tries = 0;
    world.keep = async (request: ConversationRequest) => {
      if (request.t === "answer" && ++tries === 1) throw new HoldfastError("internal", "the socket is gone");
      return world.take(request);
    };
    world.inbox?.answer(world.approvals.list({ open: true })[0]?.id ?? "", { decision: "deny", actor: SOMEBODY });
    await eventually(() => expect(tries).toBe(2));
    expect(world.told.at(-1)).toMatchObject({ t: "answer", allow: false });
  });
});

describe("the end of a run", () => {
  test("a keeper killed in a turn leaves an interrupted turn, and its torn line is cut off and reported", async () => {
    using world = new World();
    const conversations = world.begin();
    const id = await said(world, "go");
    world.write(asks);
    world.raw('{"v":1,"n":4,"type":"te');
    conversations.ended(RUN);
    expect(world.lines.map((line) => JSON.parse(line)).slice(2)).toMatchObject([
      { n: 3, type: "note", about: "recovered", turn: id, text: expect.stringContaining("23 bytes") },
      { n: 4, type: "approval_answered", ask: "a1", option: null },
      { n: 5, type: "error", code: "agent_ended" },
      { n: 6, type: "turn_ended", reason: "interrupted" },
    ]);
    expect(world.events("transcript.damaged")).toMatchObject([{ data: { run: 1, lines: 1, aside: null, offset: expect.any(Number) } }]);
    expect(world.events("turn.ended")).toMatchObject([{ data: { reason: "interrupted" } }]);
    expect(world.messages.get(id)?.state).toBe("failed");
    expect(world.approvals.list({ open: true })).toEqual([]);
    // A second call has nothing to do.
    conversations.ended(RUN);
    expect(world.lines).toHaveLength(6);
  });

  test("on a full disk the end is retried later: the turn is interrupted, and everything is recorded once", async () => {
    using world = new World();
    const conversations = world.begin();
    const id = await said(world, "go");
    world.raw('{"v":1,"n":4,"type":"te');
    const append = world.journal.append.bind(world.journal);
    const full = new Set([1, 3]);
    let appended = 0;
    vi.spyOn(world.journal, "append").mockImplementation((...drafts) => {
      if (full.has(++appended)) throw new Error("database or disk is full");
      return append(...drafts);
    });
    expect(() => conversations.ended(RUN)).toThrow("disk is full");
    expect(world.events("turn.ended")).toEqual([]);
    expect(() => conversations.ended(RUN)).toThrow("disk is full");
    expect(world.events("transcript.damaged")).toEqual([]);
    conversations.ended(RUN);
    expect(world.lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(["user", "note", "error", "turn_ended"]);
    expect(world.events("turn.ended")).toMatchObject([{ data: { reason: "interrupted" } }]);
    expect(world.events("transcript.damaged")).toHaveLength(1);
    expect(world.messages.get(id)?.state).toBe("failed");
  });

  test("damaged lines are set aside and reported", () => {
    using world = new World();
    const conversations = world.begin();
    world.write(opened);
    appendFileSync(world.transcript, "garbage\n");
    world.write(opened);
    conversations.ended(RUN);
    const [event] = world.events("transcript.damaged");
    expect(event?.data).toMatchObject({ run: 1, lines: 1, aside: expect.stringContaining("transcript-") });
    expect(readdirSync(join(world.home.path, "damaged"))).toHaveLength(1);
    expect(readFileSync(event?.data.aside ?? "", "utf8")).toContain("garbage");
    expect(world.lines).toHaveLength(2);
  });

  test("an undamaged transcript is left unchanged", () => {
    using world = new World();
    const conversations = world.begin();
    world.write(opened);
    const before = readFileSync(world.transcript, "utf8");
    conversations.ended(RUN);
    expect(readFileSync(world.transcript, "utf8")).toBe(before);
    expect(world.events("transcript.damaged")).toEqual([]);
  });
});
