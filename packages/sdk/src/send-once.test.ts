import { HoldfastError } from "@holdfast/contract";
import { expect, test } from "vitest";
import type { HoldfastClient } from "./client.ts";
import { sendOnce } from "./messages.ts";

/** A daemon that dies before it replies; `next`: the next daemon's reply about the message. */
function dying(next: () => unknown): { client: HoldfastClient; calls: string[] } {
  const calls: string[] = [];
  const call = async (name: string) => {
    calls.push(name);
    if (name === "sendMessage") throw new HoldfastError("daemon_unreachable", "the daemon went");
    return next();
  };
  return { client: { call } as unknown as HoldfastClient, calls };
}

const body = { id: "aaaaaaaaaa", text: "hello" };

test("the next daemon returns a lost reply, and no message is sent twice", async () => {
  const { client, calls } = dying(() => ({ id: body.id, state: "queued" }));
  expect(await sendOnce(client, "demo", body)).toEqual({ message: { id: body.id, state: "queued" }, typed: null });
  expect(calls).toEqual(["sendMessage", "getMessage"]);
});

test("if the next daemon does not know the message, the first error stands", async () => {
  const { client, calls } = dying(() => {
    throw new HoldfastError("message_not_found", "there is no such message");
  });
  await expect(sendOnce(client, "sh", body)).rejects.toMatchObject({ code: "daemon_unreachable" });
  expect(calls).toEqual(["sendMessage", "getMessage"]);
});

test("another error is passed on unchanged", async () => {
  const call = async () => {
    throw new HoldfastError("session_ended", "it has ended");
  };
  await expect(sendOnce({ call } as unknown as HoldfastClient, "demo", body)).rejects.toMatchObject({ code: "session_ended" });
});
