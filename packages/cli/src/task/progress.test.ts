import { expect, test } from "vitest";
import { parseTaskFile, type TaskItem } from "./parse.ts";
import { drawn, LiveBlock, lineOf, Standings } from "./progress.ts";
import type { Change } from "./work.ts";

const TEXT =
  "- [x] 1. Old\n- [ ] 2. Analyze\n  Turn 1: a\n  Turn 2: b\n- [ ] 3. Write <!-- after: 2 -->\n- [ ] 4. Deploy\n- [ ] 5. Tell <!-- after: 4 -->\n";

function open() {
  const items = parseTaskFile("tasks.md", TEXT);
  const standings = new Standings(items);
  const item = (label: string) => items.find((each) => each.label === label) as TaskItem;
  const take = (label: string, change: Change, now = 0) => {
    standings.take(item(label), change, now);
    return lineOf(item(label), change, standings.of(item(label)));
  };
  return { standings, item, take };
}

const begun: Change = { what: "begun", session: "tasks-2", agent: "demo", goesOn: false };

test("each change is a line in a pipe", () => {
  const { take, item } = open();
  expect(take("2", begun)).toBe("2 started: Analyze (demo, session tasks-2)");
  expect(take("2", { ...begun, goesOn: true })).toBe("2 continues: Analyze (demo, session tasks-2)");
  expect(take("2", { what: "turn", turn: 1 })).toBe("2 turn 1 of 2 done");
  expect(take("2", { what: "waits", for: "approval: rm" })).toBe("2 waits for approval: rm");
  expect(take("2", { what: "waits", for: "" })).toBeUndefined();
  expect(take("2", { what: "done" }, 65_000)).toBe("2 done in 1m 05s");
  expect(take("3", { what: "turn", turn: 1 })).toBeUndefined();
  expect(take("4", { what: "failed", why: "no\u001b[31mkey" })).toBe("4 failed: no\ufffd[31mkey");
  expect(take("5", { what: "blocked", by: item("4") })).toBe("5 not started: it depends on 4, which is not done");
});

test("a terminal shows a bar for the file and a line for each item", () => {
  const { take, standings, item } = open();
  take("2", begun);
  take("2", { what: "turn", turn: 1 });
  take("4", { ...begun, session: "tasks-4" });
  take("4", { what: "failed", why: "no key" }, 2000);
  take("5", { what: "blocked", by: item("4") });
  const size = { now: 61_000, columns: 60, rows: 24 };
  expect(drawn("tasks.md", standings, size)).toEqual([
    "tasks.md ████░░░░░░░░░░░░░░░░ 1 of 5 done",
    "  ✓ 1 Old",
    "  ▸ 2 Analyze  ███░░░ turn 2/2  1m 01s  tasks-2",
    "  · 3 Write  after 2",
    "  ✗ 4 Deploy  2s  no key",
    "  – 5 Tell  it depends on 4, which is not done",
  ]);
  take("2", { what: "waits", for: "approval" });
  expect(drawn("tasks.md", standings, size)[2]).toContain("waits for approval");
  for (const line of drawn("tasks.md", standings, { ...size, columns: 30 })) expect(line.length).toBeLessThan(30);
});

test("a low terminal shows running and failed items first, and the number of the rest", () => {
  const { take, standings } = open();
  take("4", { ...begun, session: "tasks-4" });
  const lines = drawn("tasks.md", standings, { now: 0, columns: 80, rows: 6 });
  expect(lines).toEqual(["tasks.md ████░░░░░░░░░░░░░░░░ 1 of 5 done", "  · 2 Analyze", "  ▸ 4 Deploy  0s  tasks-4", "  … and 3 more"]);
});

test("a block replaces the previous one", () => {
  const written: string[] = [];
  const block = new LiveBlock({ write: (text) => written.push(text) });
  block.draw(["a", "b"]);
  block.draw(["c"]);
  block.draw(["d"]);
  expect(written).toEqual(["\x1b[Ja\nb\n", "\x1b[2A\r\x1b[Jc\n", "\x1b[1A\r\x1b[Jd\n"]);
});
