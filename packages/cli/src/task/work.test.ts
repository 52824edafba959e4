import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseTaskFile, type TaskItem } from "./parse.ts";
import { readTaskFile } from "./tick.ts";
import type { Doing, Turns } from "./turns.ts";
import { type Change, work } from "./work.ts";

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "holdfast-work-"));
  file = path.join(directory, "tasks.md");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Logs its actions, and fails where the test says so. */
class Hand implements Turns {
  readonly log: string[] = [];
  stop = new AbortController();
  on: (item: TaskItem, turn: number) => void | Promise<void> = () => {};
  onEnd: () => void = () => {};

  start = async (item: TaskItem): Promise<Doing> => ({
    session: `s-${item.label}`,
    agent: "demo",
    goesOn: false,
    prompt: async (turn, { onWait }) => {
      this.log.push(`${item.label}: ${item.turns[turn]}`);
      if (item.title === "ask") {
        onWait("approval");
        onWait("");
      }
      await this.on(item, turn);
      return null;
    },
    end: async (outcome, why) => {
      this.log.push(`${item.label} ${outcome}${why === null ? "" : `: ${why}`}`);
      this.onEnd();
    },
  });
}

async function run(text: string, hand = new Hand()) {
  writeFileSync(file, text);
  const items = parseTaskFile(file, readTaskFile(file));
  const changes: string[] = [];
  const onChange = (item: TaskItem, change: Change) => {
    const more =
      change.what === "turn"
        ? ` ${change.turn}`
        : change.what === "waits"
          ? ` for ${change.for}`
          : change.what === "failed"
            ? `: ${change.why}`
            : "";
    changes.push(`${item.label} ${change.what}${more}`);
  };
  const outcomes = await work({ file, items, turns: hand, parallel: 1, signal: hand.stop.signal, onChange });
  return { hand, changes, outcomes: [...outcomes.values()], text: readFileSync(file, "utf8") };
}

test("an item is started, prompted, ticked and ended, in this order", async () => {
  const hand = new Hand();
  let ticked = "";
  hand.onEnd = () => {
    ticked = readFileSync(file, "utf8");
  };
  const { changes, text } = await run("- [ ] ask\n  Turn 1: a\n  Turn 2: b\n", hand);
  expect(hand.log).toEqual(["1: ask\n\na", "1: b", "1 done"]);
  expect(ticked).toBe(text);
  expect(text).toContain("- [x] ask");
  expect(changes).toEqual([
    "1 begun",
    "1 waits for approval",
    "1 waits for ",
    "1 turn 1",
    "1 waits for approval",
    "1 waits for ",
    "1 turn 2",
    "1 done",
  ]);
});

test("a failed item is reported and not ticked, and items after it are blocked", async () => {
  const hand = new Hand();
  hand.on = ({ title }) => {
    if (title === "bad") throw new HoldfastError("message_failed", "no key");
  };
  const { changes, text, outcomes } = await run("- [ ] bad\n- [ ] next <!-- after: 1 -->\n- [ ] good\n", hand);
  expect(changes).toEqual(["1 begun", "1 failed: no key", "2 blocked", "3 begun", "3 turn 1", "3 done"]);
  expect(hand.log).toEqual(["1: bad", "1 failed: no key", "3: good", "3 done"]);
  expect(text).toBe("- [ ] bad\n- [ ] next <!-- after: 1 -->\n- [x] good\n");
  expect(outcomes).toEqual(["failed", "done"]);
});

test("an item that cannot be started is reported as failed", async () => {
  const hand = new Hand();
  hand.start = () => Promise.reject(new HoldfastError("agent_unknown", "no such agent"));
  expect((await run("- [ ] a\n", hand)).changes).toEqual(["1 failed: no such agent"]);
});

test("a finished item that is no longer in the file counts as done, and the missing box is reported", async () => {
  const hand = new Hand();
  hand.on = () => writeFileSync(file, "- [ ] something else\n");
  const { changes, text } = await run("- [ ] a\n", hand);
  expect(changes.at(-1)).toMatch(/^1 failed: .*the item of line 1 no longer exists; its box was not checked off$/);
  expect(hand.log.at(-1)).toBe("1 done");
  expect(text).toBe("- [ ] something else\n");
});

test("the reason of a failure is reported even if the end cannot be recorded", async () => {
  const hand = new Hand();
  hand.on = () => {
    throw new HoldfastError("message_failed", "no key");
  };
  hand.onEnd = () => {
    throw new HoldfastError("daemon_unreachable", "the daemon is gone");
  };
  expect((await run("- [ ] a\n", hand)).changes.at(-1)).toBe("1 failed: no key; and it could not be told: the daemon is gone");
});

test("the end of the daemon stops the run without failing, ending, ticking or starting any item", async () => {
  const hand = new Hand();
  hand.on = () => {
    throw new HoldfastError("daemon_ended", "the daemon has been ended");
  };
  await expect(run("- [ ] a\n- [ ] b\n", hand)).rejects.toMatchObject({ code: "daemon_ended" });
  expect(hand.log).toEqual(["1: a"]);
  expect(readFileSync(file, "utf8")).toBe("- [ ] a\n- [ ] b\n");
});

test.each(["answers", "throws"])("after an interruption no item is ticked, ended or reported, even if a turn still %s", async (how) => {
  const hand = new Hand();
  hand.on = () => {
    hand.stop.abort();
    if (how === "throws") throw new HoldfastError("timeout", "nobody waits");
  };
  const { changes, text, outcomes } = await run("- [ ] a\n- [ ] b\n", hand);
  expect([changes, outcomes, hand.log]).toEqual([["1 begun"], [], ["1: a"]]);
  expect(text).toBe("- [ ] a\n- [ ] b\n");
});
