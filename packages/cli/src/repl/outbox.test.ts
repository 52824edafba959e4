import { HoldfastError } from "@holdfast/contract/errors";
import { expect, test } from "vitest";
import { ScriptedDaemon } from "../../test/scripted-daemon.ts";
import { Outbox, type Said } from "./outbox.ts";
import { Talk } from "./talk.ts";

function open() {
  const daemon = new ScriptedDaemon();
  daemon.takes = false;
  const opening = Promise.withResolvers<Talk>();
  const failed: { said: Said; error: unknown }[] = [];
  const taken: string[] = [];
  const outbox = new Outbox(opening.promise, {
    onChange() {},
    onTaken: ({ text }) => void taken.push(text),
    onFailed: (said, error) => void failed.push({ said, error }),
  });
  const talk = new Talk(daemon.context(), daemon.session("fix"));
  return { daemon, outbox, failed, taken, talk, begin: () => opening.resolve(talk), refuse: (error: Error) => opening.reject(error) };
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; !condition(); i++) {
    if (i > 4000) throw new Error(`it did not happen: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("messages written before the conversation is open wait, and are sent in order", async () => {
  const { outbox, begin, taken, daemon } = open();
  outbox.put("one", false);
  outbox.put("two", true);
  expect(outbox.waiting.map(({ text }) => text)).toEqual(["one", "two"]);
  begin();
  await until(() => taken.length === 2);
  expect(taken).toEqual(["one", "two"]);
  await until(() => outbox.waiting[0]?.why === "the agent works");
  for (const { id } of daemon.messages) outbox.arrived(id);
  outbox.arrived("unknown");
  expect(outbox.waiting).toEqual([]);
});

test("a message that the agent never received is reported with the reason", async () => {
  const { outbox, begin, failed, daemon } = open();
  begin();
  outbox.put("one", false);
  await until(() => daemon.messages.length === 1);
  Object.assign(daemon.messages[0] as object, { state: "failed", why: "the session has ended" });
  await until(() => failed.length === 1);
  expect(failed[0]?.error).toMatchObject({ code: "message_failed", message: "fix: the session has ended" });
  expect(outbox.waiting).toEqual([]);
});

test("a message that could not be sent is reported", async () => {
  const { outbox, begin, failed, daemon } = open();
  daemon.fail("sendMessage", new HoldfastError("forbidden", "no"));
  begin();
  outbox.put("one", false);
  await until(() => failed.length === 1);
  expect(failed[0]).toMatchObject({ said: { text: "one" }, error: { message: "no" } });
});

test("messages are reported as failed if the conversation does not open", async () => {
  const { outbox, refuse, failed } = open();
  outbox.put("one", false);
  refuse(new Error("no such agent"));
  await until(() => failed.length === 1);
});

test("a message that no turn has started with can be withdrawn", async () => {
  const { outbox, begin, failed, daemon } = open();
  begin();
  outbox.put("one", false);
  await until(() => daemon.messages.length === 1);
  expect(await outbox.takeBack()).toBe(true);
  expect(daemon.messages[0]?.state).toBe("cancelled");
  expect(outbox.waiting).toEqual([]);
  expect(await outbox.takeBack()).toBe(false);
  expect(failed).toEqual([]);
});

test("a message is polled again after an error, and not after a turn has started with it", async () => {
  const { outbox, begin, daemon } = open();
  begin();
  outbox.put("one", false);
  await until(() => daemon.messages.length === 1);
  daemon.fail("getMessage", new Error("gone"));
  await until(() => daemon.asked("getMessage").length > 1);
  (daemon.messages[0] as { state: string }).state = "turn_started";
  const asked = daemon.asked("getMessage").length;
  await until(() => outbox.waiting[0]?.why === null);
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(daemon.asked("getMessage").length).toBeLessThanOrEqual(asked + 1);
});
