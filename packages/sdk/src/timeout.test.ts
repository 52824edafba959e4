import { expect, test } from "vitest";
import { AbortError, Timeout } from "./errors.ts";
import { withTimeout } from "./timeout.ts";

const never = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("the wire broke"))));

test("a late call is a Timeout, a cancelled one an AbortError, and other errors pass unchanged", async () => {
  await expect(withTimeout({ timeoutMs: 5 }, "too late", never)).rejects.toMatchObject({ name: "Timeout", message: "too late" });
  await expect(withTimeout({ timeoutMs: 5 }, "too late", never)).rejects.toBeInstanceOf(Timeout);
  const over = new AbortController();
  const cancelled = withTimeout({ signal: over.signal, timeoutMs: 60_000 }, "too late", never);
  over.abort("enough");
  await expect(cancelled).rejects.toMatchObject({ name: "AbortError", cause: "enough" });
  await expect(withTimeout({}, "", () => Promise.reject(new Error("its own")))).rejects.toThrow("its own");
  expect(await withTimeout({ timeoutMs: 60_000 }, "", async () => 1)).toBe(1);
});

test("a call cancelled beforehand does not start", async () => {
  let began = false;
  const work = async () => {
    began = true;
  };
  await expect(withTimeout({ signal: AbortSignal.abort() }, "", work)).rejects.toBeInstanceOf(AbortError);
  expect(began).toBe(false);
});

test("the inner call is aborted at the end, and the outer signal loses its listener", async () => {
  const over = new AbortController();
  let inner: AbortSignal | undefined;
  await withTimeout({ signal: over.signal }, "", async (signal) => {
    inner = signal;
  });
  expect(inner?.aborted).toBe(true);
  over.abort();
});
