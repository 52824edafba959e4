import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Session, SessionId } from "@holdfast/contract";
import { eventually } from "../tests/home.ts";
import { type Benchmark, quantile, type Row, type Spread, spread } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";

const MEMBERS = 64;
const GROUP = "team";
/** The number of messages sent without waiting. */
const AT_ONCE = 20;

type Client = ReturnType<BenchHome["client"]>;

export const groupMessages: Benchmark = {
  name: "group-messages",
  measures:
    "A group of 64 conversations with the scripted agent. Time from a message to the group until each member has it (`message.injected` on the event stream), one message at a time. Then 20 at once, which each member gets one turn after the other.",
  baseline: "none",
  budget: "none",
  async run(scale): Promise<Row[]> {
    await using home = new BenchHome();
    await home.ok(["up"]);
    using sdk = home.client();
    const members = await join(home, sdk, scale.samples(MEMBERS));
    using watch = new Watch(sdk);
    const times: number[] = [];
    for (let round = 0; round < scale.rounds(20); round++) {
      const began = performance.now();
      const given = watch.given(members.length);
      await say(sdk);
      times.push(...(await given).map((at) => at - began));
      await idle(sdk, members);
    }
    const began = performance.now();
    const given = watch.given(members.length * AT_ONCE);
    await Promise.all(Array.from({ length: AT_ONCE }, () => say(sdk)));
    const accepted = performance.now();
    const last = (await given).at(-1) ?? Number.NaN;
    const perSecond = (until: number): Spread => spread([(members.length * AT_ONCE) / ((until - began) / 1000)]);
    return [
      { what: `said to ${members.length}, until a member has it`, unit: "ms", subject: spread(times) },
      { what: "p99 of all members", unit: "ms", subject: spread([quantile(times, 0.99)]) },
      { what: "20 at once, in the journal", unit: "messages per s", subject: perSecond(accepted) },
      { what: "20 at once, each in its turn", unit: "messages per s", subject: perSecond(last) },
    ];
  },
};

async function join(home: BenchHome, sdk: Client, count: number): Promise<SessionId[]> {
  const cwd = path.join(home.root, "project");
  mkdirSync(cwd, { recursive: true });
  await sdk.call("createGroup", { body: { path: GROUP, limit: MEMBERS } });
  const ids: SessionId[] = [];
  while (ids.length < count) {
    const { id } = await sdk.call("spawn", { body: { agent: "demo", chat: true, cwd, env: home.env, groups: [GROUP] } });
    ids.push(id);
  }
  await idle(sdk, ids);
  return ids;
}

async function idle(sdk: Client, members: readonly SessionId[]): Promise<void> {
  const isIdle = ({ status }: Session) => status === "idle";
  await eventually(async () => {
    const { sessions } = await sdk.call("listSessions", { query: {} });
    return sessions.filter(isIdle).length === members.length;
  }, 120_000);
}

async function say(sdk: Client): Promise<void> {
  await sdk.call("sendToGroup", { params: { group: GROUP }, body: { text: "say hello" } });
}

/** When each member got a message, in the order of the events. */
class Watch implements Disposable {
  readonly #end = new AbortController();
  #times: number[] = [];
  #waiting: { count: number; resolve(times: number[]): void } | undefined;

  constructor(sdk: Client) {
    void this.#follow(sdk).catch(() => {});
  }

  given(count: number): Promise<number[]> {
    this.#times = [];
    return new Promise((resolve) => {
      this.#waiting = { count, resolve };
    });
  }

  async #follow(sdk: Client): Promise<void> {
    for await (const _ of sdk.events({ query: { type: ["message.injected"] } }, this.#end.signal)) {
      this.#times.push(performance.now());
      if (this.#times.length === this.#waiting?.count) this.#waiting.resolve(this.#times);
    }
  }

  [Symbol.dispose](): void {
    this.#end.abort();
  }
}
