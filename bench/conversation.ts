import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { client, ndJsonStream } from "@agentclientprotocol/sdk";
import type { PlacedEntry, Session } from "@holdfast/contract";
import { inspect } from "@holdfast/platform";
import { eventually, ROOT } from "../tests/home.ts";
import { type Benchmark, compared, inTurns, type Row, spread } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";

const RATE = 5000;

type Client = ReturnType<BenchHome["client"]>;

export const firstToken: Benchmark = {
  name: "first-token",
  measures:
    "Time from a prompt to a conversation until the first piece of the answer arrives over SSE, on one SDK connection: through the journal, the keeper, the transcript and back.",
  baseline: "a bare ACP client on the same scripted agent: from `session/prompt` to the first `agent_message_chunk`",
  budget: "+ 5 ms, median",
  async run(scale): Promise<Row[]> {
    await using home = new BenchHome();
    await home.ok(["up"]);
    using sdk = home.client();
    const session = await talk(home, sdk);
    using watch = new Watch(sdk, session.id);
    await using bare = await BareClient.open(home);
    const { subject, baseline } = await inTurns(scale.rounds(100), {
      subject: () => watch.firstToken(() => sdk.call("sendMessage", { params: { ref: session.id }, body: { text: "say hello" } })),
      baseline: () => bare.firstToken("say hello"),
    });
    const more = subject.map((value, round) => value - (baseline[round] ?? Number.NaN));
    return [
      compared({ what: "prompt to first piece", unit: "ms" }, subject, { name: "a bare ACP client", values: baseline }),
      { what: "difference", unit: "ms", subject: spread(more), limit: { of: "subject", atMost: 5 } },
    ];
  },
};

export const updates: Benchmark = {
  name: "updates-5000",
  measures:
    "A conversation whose agent sends 5,000 pieces a second for ten seconds. Measured are the pieces a client has received over SSE at the end of the turn, the delay of the last one, and the CPU use of daemon and keeper.",
  baseline: "none",
  budget: "none lost; the last within 1 s",
  async run(scale): Promise<Row[]> {
    const count = scale.samples(10) * RATE;
    await using home = new BenchHome();
    await home.ok(["up"]);
    using sdk = home.client();
    const session = await talk(home, sdk);
    using watch = new Watch(sdk, session.id);
    const { pid } = await sdk.call("status", {});
    const keeper = inspect(session.pid ?? 0)?.parent ?? 0;
    const before = { daemon: cpuMs(pid), keeper: cpuMs(keeper) };
    const began = performance.now();
    await sdk.call("sendMessage", { params: { ref: session.id }, body: { text: `stream ${count} ${RATE}` } });
    const end = await watch.turnEnded();
    const seconds = (performance.now() - began) / 1000;
    const late = Date.now() - Date.parse(end.entry.at);
    const got = watch.pieces;
    const share = (now: number, then: number) => spread([(now - then) / 10 / seconds]);
    return [
      { what: `pieces lost, of ${count}`, unit: "pieces", subject: spread([count - got]), limit: { of: "subject", atMost: 0 } },
      { what: "pieces over SSE", unit: "per s", subject: spread([got / seconds]) },
      { what: "the turn's end, after it was written", unit: "ms", subject: spread([late]), limit: { of: "subject", atMost: 1000 } },
      { what: "the daemon", unit: "% of a core", subject: share(cpuMs(pid), before.daemon) },
      { what: "the keeper", unit: "% of a core", subject: share(cpuMs(keeper), before.keeper) },
    ];
  },
};

export const conversationHolder: Benchmark = {
  name: "conversation-holder-memory",
  measures: "Resident memory of the keeper of a conversation at rest, and after its agent has sent 50,000 pieces.",
  baseline: "none",
  budget: "≤ 60 MB",
  async run(scale): Promise<Row[]> {
    await using home = new BenchHome();
    await home.ok(["up"]);
    using sdk = home.client();
    const sessions = await Promise.all(Array.from({ length: scale.samples(5) }, () => talk(home, sdk)));
    const limit = { of: "subject", atMost: 60 } as const;
    const rest = sessions.map(memory);
    for (const { id } of sessions) await sdk.call("sendMessage", { params: { ref: id }, body: { text: "stream 50000" } });
    for (const { id } of sessions) {
      await eventually(async () => (await sdk.call("getSession", { params: { ref: id } })).status === "idle", 120_000);
    }
    return [
      { what: "at rest", unit: "MB", subject: spread(rest), limit },
      { what: "after 50,000 pieces", unit: "MB", subject: spread(sessions.map(memory)), limit },
    ];
  },
};

export async function talk(home: BenchHome, sdk: Client): Promise<Session> {
  const cwd = path.join(home.root, "project");
  mkdirSync(cwd, { recursive: true });
  const { id } = await sdk.call("spawn", { body: { agent: "demo", chat: true, cwd, env: home.env } });
  return eventually(async () => {
    const session = await sdk.call("getSession", { params: { ref: id } });
    return session.status === "idle" && session;
  });
}

/** A client that follows a conversation. */
class Watch implements Disposable {
  pieces = 0;
  readonly #end = new AbortController();
  #waiting: { type: string; resolve(placed: PlacedEntry): void }[] = [];

  constructor(sdk: Client, session: string) {
    void this.#follow(sdk, session).catch(() => {});
  }

  async #follow(sdk: Client, session: string): Promise<void> {
    for await (const placed of sdk.entries({ params: { ref: session } }, this.#end.signal)) {
      const { type } = placed.entry;
      if (type === "text") this.pieces++;
      const waiting = this.#waiting.filter((each) => each.type === type);
      this.#waiting = this.#waiting.filter((each) => each.type !== type);
      for (const each of waiting) each.resolve(placed);
    }
  }

  next(type: string): Promise<PlacedEntry> {
    return new Promise((resolve) => this.#waiting.push({ type, resolve }));
  }

  turnEnded(): Promise<PlacedEntry> {
    return this.next("turn_ended");
  }

  async firstToken(say: () => Promise<unknown>): Promise<number> {
    const [first, end] = [this.next("text"), this.turnEnded()];
    const began = performance.now();
    const said = say();
    await first;
    const took = performance.now() - began;
    await Promise.all([said, end]);
    return took;
  }

  [Symbol.dispose](): void {
    this.#end.abort();
  }
}

/** The protocol's own SDK on the agent's pipes, and nothing else. */
class BareClient implements AsyncDisposable {
  readonly #child;
  readonly #connection;
  #session = "";
  #first: (() => void) | undefined;

  private constructor(home: BenchHome) {
    this.#child = spawn(process.execPath, [path.join(ROOT, "dist/demo.mjs"), "--acp"], {
      cwd: path.join(home.root, "project"),
      env: home.env,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const stream = ndJsonStream(
      Writable.toWeb(this.#child.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(this.#child.stdout) as ReadableStream<Uint8Array>,
    );
    this.#connection = client({ name: "bare" })
      .onNotification("session/update", ({ params }) => {
        if (params.update.sessionUpdate === "agent_message_chunk") this.#first?.();
      })
      .connect(stream);
  }

  static async open(home: BenchHome): Promise<BareClient> {
    const bare = new BareClient(home);
    await bare.#connection.agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const opened = await bare.#connection.agent.request("session/new", { cwd: path.join(home.root, "project"), mcpServers: [] });
    bare.#session = opened.sessionId;
    return bare;
  }

  async firstToken(text: string): Promise<number> {
    const first = new Promise<void>((resolve) => {
      this.#first = resolve;
    });
    const began = performance.now();
    const end = this.#connection.agent.request("session/prompt", { sessionId: this.#session, prompt: [{ type: "text", text }] });
    await first;
    const took = performance.now() - began;
    await end;
    return took;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await new Promise((resolve) => this.#child.once("close", resolve));
  }
}

function memory({ pid }: Session): number {
  const keeper = inspect(pid ?? 0)?.parent ?? 0;
  return Number(/^Rss: +(\d+) kB$/m.exec(readFileSync(`/proc/${keeper}/smaps_rollup`, "utf8"))?.[1]) / 1024;
}

/** The CPU time of a process so far: user and system, in ticks of 10 ms. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
