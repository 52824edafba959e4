import { expect, test } from "vitest";
import { ERRORS, type ErrorCode, HoldfastError, unwritable } from "./errors.ts";

/** Scripts depend on these codes: entries may be added, but none may change. */
const EXIT_CODES: Record<string, number> = {
  internal: 1,
  usage: 2,
  invalid_name: 2,
  session_not_found: 3,
  session_ambiguous: 4,
  name_taken: 5,
  session_running: 6,
  session_ended: 6,
  agent_unknown: 7,
  program_not_found: 7,
  cwd_unusable: 7,
  host_missing: 8,
  host_failed: 8,
  stop_incomplete: 9,
  daemon_unreachable: 10,
  client_outdated: 11,
  daemon_outdated: 11,
  node_too_old: 12,
  cursor_gone: 13,
  home_unusable: 14,
  not_a_terminal: 15,
  disk_full: 19,
  home_read_only: 19,
  no_descriptors: 19,
};

test("exit codes of released errors do not change", () => {
  for (const [code, exit] of Object.entries(EXIT_CODES)) expect(ERRORS[code as ErrorCode]?.exit, code).toBe(exit);
});

test("every error has an HTTP error status, a valid exit code and a sentence", () => {
  for (const [code, { http, exit, what }] of Object.entries(ERRORS)) {
    expect(http, code).toBeGreaterThanOrEqual(400);
    expect(http, code).toBeLessThan(600);
    // 0 is success; 126 and above belong to the shell.
    expect(exit, code).toBeGreaterThan(0);
    expect(exit, code).toBeLessThan(126);
    expect(what, code).toMatch(/^[A-Z].*\.$/);
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
  }
});

test("an error survives the wire", () => {
  const error = new HoldfastError("session_ambiguous", "two", { hint: "say more", candidates: ["a", "b"], cause: new Error("secret") });
  const body = JSON.parse(JSON.stringify(error.toBody())) as object;
  expect(body).toEqual({ code: "session_ambiguous", message: "two", hint: "say more", candidates: ["a", "b"] });
  expect(HoldfastError.fromBody(body)).toMatchObject({
    code: "session_ambiguous",
    message: "two",
    hint: "say more",
    candidates: ["a", "b"],
    exitCode: 4,
    httpStatus: 409,
  });
  expect(new HoldfastError("usage", "x").toBody()).toEqual({ code: "usage", message: "x" });
});

test.each([{}, { code: "of_a_newer_daemon", message: "new" }, { code: "constructor" }, { code: "toString", message: "x" }])(
  "an unknown error body (%j) is an internal error",
  (body) => {
    expect(HoldfastError.fromBody(body)).toMatchObject({ code: "internal", exitCode: 1 });
  },
);

test.each([
  ["disk_full", { code: "ENOSPC", syscall: "write" }],
  ["disk_full", { code: "EDQUOT", syscall: "open" }],
  ["disk_full", { code: "ERR_SQLITE_ERROR", errcode: 13 }],
  ["home_read_only", { code: "EROFS", syscall: "open" }],
  ["home_read_only", { code: "ERR_SQLITE_ERROR", errcode: 8 | (4 << 8) }],
  ["internal", { code: "ENOSPC", syscall: "watch" }],
  ["internal", { code: "ERR_SQLITE_ERROR", errcode: 5 }],
] as const)("a failed write is %s: %j", (code, thrown) => {
  const error = HoldfastError.from(Object.assign(new Error("as the system says it"), thrown));
  expect(error.code).toBe(code);
  expect(unwritable(error) !== undefined).toBe(code !== "internal");
});

test("any thrown value becomes an error, and a HoldfastError stays the same", () => {
  const ours = new HoldfastError("usage", "x");
  expect(HoldfastError.from(ours)).toBe(ours);
  const cause = new TypeError("boom");
  expect(HoldfastError.from(cause)).toMatchObject({ code: "internal", message: "boom", cause });
  expect(HoldfastError.from("text").message).toBe("text");
  expect(HoldfastError.from(undefined).message).toBe("undefined");
});

test("missing file descriptors and a full socket disk are named as the cause (mend 18)", () => {
  const failure = (more: object) => HoldfastError.from(Object.assign(new Error("x"), more));
  expect(failure({ code: "EMFILE", syscall: "open" })).toMatchObject({
    code: "no_descriptors",
    hint: expect.stringContaining("ulimit -n"),
  });
  expect(failure({ code: "ENFILE", syscall: "spawn" }).message).toBe("the machine has no file descriptors left");
  const sockets = failure({ code: "ENOSPC", syscall: "listen", address: "/tmp/holdfast-1000/abc/daemon.sock" });
  expect(sockets).toMatchObject({ code: "disk_full", hint: expect.stringContaining("df /tmp/holdfast-1000/abc") });
  expect(sockets.message).not.toContain("nothing can be written");
  expect(failure({ code: "ENOSPC", path: "/home/me/.local/state/holdfast/x" }).hint).toContain("holdfast du");
});
