import { ERRORS, type ErrorCode } from "@holdfast/contract/errors";
import { expect, test } from "vitest";
import * as sdk from "./errors.ts";

const CLASSES: Partial<Record<ErrorCode, string>> = {
  timeout: "Timeout",
  tool_failed: "ToolFailed",
  unauthenticated: "Unauthenticated",
  agent_unauthenticated: "Unauthenticated",
  budget_spent: "BudgetExceeded",
  agent_crashed: "AgentCrashed",
  daemon_unreachable: "DaemonUnreachable",
  daemon_ended: "DaemonUnreachable",
  forbidden: "PermissionRefused",
  permission_refused: "PermissionRefused",
  rate_limited: "RateLimited",
  aborted: "AbortError",
};

test("each code has its class, and all classes share one base", () => {
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    const error = sdk.errorOf(code, "it happened", { hint: "do this" });
    expect(error.name, code).toBe(CLASSES[code] ?? "HoldfastError");
    expect(error).toBeInstanceOf(sdk.HoldfastError);
    expect(error).toMatchObject({ code, message: "it happened", hint: "do this" });
    expect(String(error)).toBe(`${error.name}: it happened`);
  }
});

test("an error keeps its content when it gets its class", () => {
  const plain = new sdk.HoldfastError("forbidden", "no", { hint: "ask", candidates: ["a"], details: { why: 1 }, cause: "that" });
  const typed = sdk.typed(plain);
  expect(typed).toBeInstanceOf(sdk.PermissionRefused);
  expect(typed).toMatchObject({ code: "forbidden", message: "no", hint: "ask", candidates: ["a"], details: { why: 1 }, cause: "that" });
  expect(sdk.typed(typed)).toBe(typed);
  const other = new Error("something else");
  expect(sdk.typed(other)).toBe(other);
});

test("an aborted call fails with an AbortError and the signal's reason", () => {
  const over = new AbortController();
  expect(sdk.typed("x", over.signal)).toBe("x");
  over.abort("enough");
  expect(sdk.typed(new Error("socket closed"), over.signal)).toMatchObject({ name: "AbortError", code: "aborted", cause: "enough" });
  const reason = sdk.abortErrorOf(over.signal);
  expect(sdk.abortErrorOf(AbortSignal.abort(reason))).toBe(reason);
  expect(() => sdk.throwIfAborted(over.signal)).toThrow(sdk.AbortError);
  sdk.throwIfAborted(undefined);
});
