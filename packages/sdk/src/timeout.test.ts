import { expect, test } from "vitest";
import { AbortError, Timeout } from "./errors.ts";
import { withTimeout } from "./timeout.ts";

const never = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("the wire broke"))));

test("what is late is a Timeout, what is cancelled an AbortError, and what fails fails as it did", async () => {
  await expect(withTimeout({ timeoutMs: 5 }, "too late", never)).rejects.toMatchObject({ name: "Timeout", message: "too late" });
  await expect(withTimeout({ timeoutMs: 5 }, "too late", never)).rejects.toBeInstanceOf(Timeout);
  const over = new AbortController();
  const cancelled = withTimeout({ signal: over.signal, timeoutMs: 60_000 }, "too late", never);
  over.abort("enough");
  await expect(cancelled).rejects.toMatchObject({ name: "AbortError", cause: "enough" });
  await expect(withTimeout({}, "", () => Promise.reject(new Error("its own")))).rejects.toThrow("its own");
  expect(await withTimeout({ timeoutMs: 60_000 }, "", async () => 1)).toBe(1);
});

test("what was cancelled before does not begin", async () => {
  let began = false;
  const work = async () => {
    began = true;
  };
  await expect(withTimeout({ signal: AbortSignal.abort() }, "", work)).rejects.toBeInstanceOf(AbortError);
  expect(began).toBe(false);
});

test("what it started hears of the end, and its signal is not listened to any more", async () => {
  const over = new AbortController();
  let inner: AbortSignal | undefined;
  await withTimeout({ signal: over.signal }, "", async (signal) => {
    inner = signal;
  });
  expect(inner?.aborted).toBe(true);
  over.abort();
});
