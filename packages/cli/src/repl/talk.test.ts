import { HoldfastError } from "@holdfast/contract/errors";
import { describe, expect, test } from "vitest";
import { ME, ScriptedDaemon } from "../../test/scripted-daemon.ts";
import { newMessageId, Talk } from "./talk.ts";

const gone = () => new HoldfastError("daemon_unreachable", "the daemon ended before it answered");

function open() {
  const daemon = new ScriptedDaemon();
  const session = daemon.session("fix");
  return { daemon, session, talk: new Talk(daemon.context(), session) };
}

/** The events heard by a follower of the conversation. */
function follow(talk: Talk, after = "1.0") {
  const heard: string[] = [];
  const stop = new AbortController();
  const followed = talk.follow(
    after,
    {
      onEntry: ({ entry }) => void heard.push(entry.type === "text" ? entry.text : entry.type),
      onTrouble: (why) => void heard.push(why === undefined ? "back" : "gone"),
      onEnd: ({ status }) => void heard.push(`ended ${status}`),
    },
    stop.signal,
  );
  const until = async (count: number) => {
    while (heard.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    return heard;
  };
  return { heard, until, stop: () => stop.abort(), followed };
}

test("message ids have the daemon's format", () => {
  for (let i = 0; i < 200; i++) expect(newMessageId()).toMatch(/^[a-z][a-z2-7]{9}$/);
});

describe("sending messages", () => {
  test("a message keeps its id when it is sent again after a daemon died", async () => {
    const { daemon, talk } = open();
    daemon.fail("sendMessage", gone(), gone());
    const message = await talk.say("hello");
    const ids = daemon.asked("sendMessage").map(({ body }) => body?.id);
    expect(ids).toEqual([message.id, message.id, message.id]);
    expect(message.from).toBe(ME);
  });

  test("a message to an ended conversation starts its next run", async () => {
    const { daemon, session, talk } = open();
    daemon.change(session, { endedAt: "x", status: "done" });
    await talk.say("hello", { steer: true });
    expect(session.runs).toBe(2);
    expect(daemon.asked("sendMessage").at(-1)?.body).toMatchObject({ text: "hello", steer: true });
  });

  test("a session that was resumed meanwhile is not an error; other errors are reported", async () => {
    const { daemon, talk } = open();
    daemon.fail("resumeSession", new HoldfastError("session_running", "it runs"));
    await talk.resume();
    daemon.fail("resumeSession", new HoldfastError("conversation_unknown", "there is none"));
    await expect(talk.resume()).rejects.toThrow("there is none");
    daemon.fail("sendMessage", new HoldfastError("forbidden", "no"));
    await expect(talk.say("x")).rejects.toThrow("no");
  });

  test("a message that was typed into a terminal is an error", async () => {
    const { daemon, session, talk } = open();
    const client = { call: async () => ({ session, message: null, typed: { bytes: 1 } }) };
    await expect(new Talk(daemon.context({ client: client as never }), session).say("x")).rejects.toMatchObject({
      code: "not_a_conversation",
    });
    expect(talk.id).toBe(session.id);
  });
});

describe("following a conversation", () => {
  test("entries are received once and in order, also after a daemon died", async () => {
    const { daemon, talk } = open();
    daemon.write({ type: "text", text: "1" });
    const { until, heard, stop, followed } = follow(talk);
    await until(1);
    daemon.write({ type: "text", text: "2" });
    await until(2);
    daemon.die();
    daemon.write({ type: "text", text: "3" });
    await until(5);
    expect(heard).toEqual(["1", "2", "gone", "back", "3"]);
    stop();
    await followed;
  });

  test("a reconnect is reported even if the conversation has no new entries", async () => {
    const { daemon, talk } = open();
    daemon.write({ type: "text", text: "1" });
    const { until, heard, stop, followed } = follow(talk);
    await until(1);
    daemon.die();
    await until(3);
    expect(heard).toEqual(["1", "gone", "back"]);
    stop();
    await followed;
  });

  test("the end of a run is reported once, even if the daemon fails meanwhile", async () => {
    const { daemon, session, talk } = open();
    daemon.change(session, { endedAt: "x", status: "failed" });
    daemon.fail("listSessions", gone(), gone());
    const { until, heard, stop, followed } = follow(talk);
    await until(5);
    expect(heard.filter((each) => each.startsWith("ended"))).toEqual(["ended failed"]);
    stop();
    await followed;
  });

  test("following continues with the next run", async () => {
    const { daemon, session, talk } = open();
    const { until, heard, stop, followed } = follow(talk);
    daemon.change(session, { endedAt: "x", status: "failed" });
    await until(1);
    daemon.change(session, { endedAt: null, status: "idle", runs: 2 });
    daemon.write({ type: "text", text: "again" });
    await until(2);
    expect(heard).toEqual(["ended failed", "again"]);
    stop();
    await followed;
  });

  test("a removed session ends following with an error", async () => {
    const { daemon, talk } = open();
    daemon.fail("followTranscript", new HoldfastError("session_not_found", "it is gone"));
    await expect(follow(talk).followed).rejects.toThrow("it is gone");
  });

  test("an error of the caller is not treated as one of the daemon", async () => {
    const { daemon, talk } = open();
    daemon.write({ type: "text", text: "1" });
    let told = 0;
    const mistaken = () => {
      told++;
      throw new TypeError("a mistake");
    };
    const stop = new AbortController();
    await expect(talk.follow("1.0", { onEntry: mistaken, onTrouble() {}, onEnd() {} }, stop.signal)).rejects.toThrow("a mistake");
    expect(told).toBe(1);
  });
});

test("everything() reads all pages", async () => {
  const { daemon, talk } = open();
  for (let i = 0; i < 5; i++) daemon.write({ type: "text", text: String(i) });
  const all: string[] = [];
  for await (const { entry } of talk.everything()) if (entry.type === "text") all.push(entry.text);
  expect(all).toEqual(["0", "1", "2", "3", "4"]);
});

test("an approval is found by its request id, never by the same text (mend 6)", async () => {
  const { daemon, talk } = open();
  const approval = (id: string, ask: string) => ({ id, ask, text: "Run make", digest: `digest of ${id}` }) as never;
  setTimeout(() => {
    daemon.approvals = [approval("a", "a1"), approval("b", "a2")];
  }, 20);
  const found = await talk.approvalFor("a2");
  expect(found).toMatchObject({ id: "b" });
  if (found) await talk.answer(found, "allow", true);
  const body = { decision: "allow", digest: "digest of b", always: true };
  expect(daemon.asked("answerApproval")[0]).toEqual({ params: { id: "b" }, body });
  expect(await talk.approvalFor("a9")).toBeUndefined();
});

test("mode, memory, turns and messages can be set, cleared, cancelled and withdrawn", async () => {
  const { daemon, talk } = open();
  expect((await talk.set({ mode: "auto" })).settings?.mode).toBe("auto");
  await talk.clear();
  expect(await talk.cancel()).toBe(true);
  daemon.takes = false;
  const { id } = await talk.say("later");
  expect(await talk.message(id, 1)).toMatchObject({ state: "queued" });
  expect(await talk.takeBack(id)).toMatchObject({ state: "cancelled" });
});
