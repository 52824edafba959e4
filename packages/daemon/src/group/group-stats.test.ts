import { newSessionId, type Principal } from "@holdfast/contract";
import { expect, test } from "vitest";
import { GroupBench, ME, NOTHING } from "../../test/groups.ts";
import { median, statsOf } from "./group-stats.ts";

test("progress is summed over the members of a group and its subgroups, each session once (GRP-08 together)", () => {
  const bench = new GroupBench();
  const [a, b, c] = [bench.session("a"), bench.session("b", { kind: "terminal", agent: "demo" }), bench.session("c")];
  bench.groups.join("team", [a, b], { actor: ME });
  bench.groups.join("team/research", [b, c], { actor: ME });
  bench.end(c);
  bench.values.share("team", "goal", { value: 1, actor: ME });
  bench.values.share("team/research", "note", { value: 1, actor: ME });
  const asked: string[][] = [];
  const spent = (ids: readonly string[]) => {
    asked.push([...ids]);
    return { ...NOTHING, turns: 3, input: 100 };
  };
  expect(statsOf("team", { queries: bench.queries, sessions: bench.sessions, spent })).toEqual({
    group: "team",
    sessions: { total: 3, alive: 2, ended: 1, byStatus: { working: 1, unknown: 1, failed: 1 } },
    turns: 0,
    spent: { ...NOTHING, turns: 3, input: 100 },
    messages: { sent: 0, replied: 0, medianReplyMs: null },
    keys: 2,
  });
  expect(asked).toEqual([[a, b, c]]);
});

test("the reply time is the median over messages between members and messages to the group (GRP-12 together)", () => {
  const bench = new GroupBench();
  const [a, b, c] = [bench.session("a"), bench.session("b"), bench.session("c")];
  bench.groups.join("team", [a, b], { actor: ME });
  const tell = (from: string, ms: number | null, to = {}) => {
    const id = newSessionId();
    bench.journal.append({ type: "message.queued", actor: from as Principal, session: b, data: { id, text: "x", steer: false, ...to } });
    bench.now += ms ?? 0;
    if (ms !== null) bench.journal.append({ type: "message.replied", actor: ME, session: b, data: { id, run: 1, reply: null } });
  };
  for (const ms of [1000, 5000, 2000, null]) tell(`session:${a}`, ms);
  tell(`session:${c}`, 9000);
  tell(ME, 9000);
  tell(ME, 2000, { group: "team", role: "member" });
  const { messages } = statsOf("team", { queries: bench.queries, sessions: bench.sessions, spent: () => NOTHING });
  expect(messages).toEqual({ sent: 5, replied: 4, medianReplyMs: 2000 });
  expect([median([]), median([1]), median([4, 2])]).toEqual([null, 1, 3]);
});
