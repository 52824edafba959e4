import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { printSafely, safeJson } from "./safe-output.ts";

const UNSAFE = "a\u009b31mb\u202ec\u2066d\u200fe\x7ff\u2028g\u{e0041}h";

function stream(isTTY: boolean): NodeJS.WriteStream & PassThrough {
  return Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream & PassThrough;
}

async function printed(what: string | Uint8Array, how: { json: boolean; isTTY: boolean }): Promise<string> {
  const out = stream(how.isTTY);
  printSafely(out, how);
  out.write(what);
  out.end();
  return text(out);
}

test("JSON is printed without characters that a terminal interprets, and parses to the same value (mend 8)", async () => {
  const value = { [UNSAFE]: [UNSAFE, "漢字 🦭 👩‍🚀 ‌\n\x1b"] };
  for (const isTTY of [true, false]) {
    const line = await printed(JSON.stringify(value), { json: true, isTTY });
    expect(line).toMatch(/^[^\x7f-\x9f\u202e\u2066\u200f\u2028]*$/);
    expect(line).not.toContain("\u{e0041}");
    expect(JSON.parse(line)).toEqual(value);
  }
});

test("unsafe characters on a terminal are replaced, and colours stay (mend 8)", async () => {
  expect(await printed(`\x1b[31m${UNSAFE}\x1b[0m`, { json: false, isTTY: true })).toBe(
    "\x1b[31ma\ufffd31mb\ufffdc\ufffdd\ufffde\ufffdf\ufffdg\ufffdh\x1b[0m",
  );
});

test("text for a file, and bytes, are unchanged (mend 8)", async () => {
  expect(await printed(UNSAFE, { json: false, isTTY: false })).toBe(UNSAFE);
  expect(await printed(Buffer.from(UNSAFE), { json: false, isTTY: true })).toBe(UNSAFE);
  expect(safeJson('"漢字 🦭 👩‍🚀"')).toBe('"漢字 🦭 👩‍🚀"');
});
