import { expect, test } from "vitest";
import { newSessionId, Principal, SessionId } from "./ids.ts";

test("ids are ten letters and digits, begin with a letter, and differ", () => {
  const ids = Array.from({ length: 2000 }, newSessionId);
  for (const id of ids) expect(SessionId.safeParse(id).success, id).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  // Ids are random from the first character, so short prefixes distinguish sessions.
  expect(new Set(ids.map((id) => id[0])).size).toBe(26);
  expect(new Set(ids.map((id) => id[9])).size).toBe(32);
});

test.each(["", "abc", "abcdefghijk", "1bcdefghij", "ABCDEFGHIJ", "abcdefghi1", "abcdefgh-j", "abcdefghij\n"])("%j is not an id", (text) => {
  expect(SessionId.safeParse(text).success).toBe(false);
});

test("a principal names its kind", () => {
  for (const text of ["daemon", "user:me", "token:ci", "session:abcdefghij"]) expect(Principal.safeParse(text).success, text).toBe(true);
  for (const text of ["", "me", "user:", "user:a b", "root:me", "daemon:x", "user:a\nb"])
    expect(Principal.safeParse(text).success, text).toBe(false);
});
