import headless from "@xterm/headless";
import fc from "fast-check";
import { openEmulator, parseNow } from "./emulator.ts";

const reflow = process.argv[2] === "reflow";
const tok = fc.constantFrom(
  "a",
  "abc 漢",
  "👍",
  "x".repeat(30),
  "\r\n",
  "\n\n\n\n\n\n\n\n\n\n",
  "\r",
  "\x1b[A",
  "\x1b[5A",
  "\x1b[K",
  "\x1b[2J",
  "\x1b[H",
  "\x1b[20;20H",
  "\x1bM",
  "\x1b[2L",
  "\x1b[2M",
  "\x1b7",
  "\x1b8",
  "\x1b[2;5r",
  "\x1b[r",
  "\x1b[?1049h",
  "\x1b[?1049l",
  "\x1bc",
  "\x1b[2S",
  "\x1b[2T",
  "\x1b[J",
  "\x1b[1J",
);
const size = fc.tuple(fc.integer({ min: 2, max: 30 }), fc.integer({ min: 1, max: 20 }));
const r = fc.check(
  fc.property(size, fc.array(fc.oneof({ weight: 4, arbitrary: tok }, size), { maxLength: 200, size: "max" }), ([c, ro], ops) => {
    const t = openEmulator({ columns: c, rows: ro, scrollback: 4160 });
    if (reflow) t.options.windowsPty = {};
    for (const op of ops)
      if (typeof op === "string") parseNow(t, op);
      else {
        if (process.argv[3]) {
          t.options.scrollback = 0;
          t.options.scrollback = 4160;
        }
        t.resize(op[0], op[1]);
      }
    t.dispose();
  }),
  { numRuns: Number(process.argv[4] ?? 60000) },
);
console.log(r.failed, r.numRuns, JSON.stringify(r.counterexample), String(r.errorInstance).slice(0, 200));
