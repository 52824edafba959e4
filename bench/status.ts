import { spawn } from "node:child_process";
import { closeSync, constants, openSync, readlinkSync, writeSync } from "node:fs";
import path from "node:path";
import type { Session, SessionId } from "@holdfast/contract";
import { type Benchmark, quantile, type Row, type Scale, spread } from "./harness.ts";
import { BenchHome, SLEEPER } from "./rig/home.ts";

const SESSIONS = 100;

/** From what an agent does to the event that a subscriber has of it. */
export const hookToStatus: Benchmark = {
  name: "hook-to-status",
  measures:
    "A hook of an agent, one of 100, from the start of its process until a subscriber of the event stream has the `session.status_changed` that follows from it.",
  baseline: "none",
  budget: "p99 ≤ 50 ms",
  run: (scale) =>
    timed(scale, 50, async (session, home, turn) => {
      const event = turn === "working" ? "UserPromptSubmit" : "Stop";
      const payload = JSON.stringify({ hook_event_name: event, session_id: session.conversation, prompt: "go on" });
      const tell = path.join(home.runDirectory(session), "hooks/tell");
      const began = performance.now();
      spawn("sh", [tell], { stdio: ["pipe", "ignore", "inherit"] }).stdin.end(payload);
      return began;
    }),
};

/** As Claude Code shows it. */
const SHOWN = {
  working: "\x1b[2J\x1b[H✻ Thinking…\r\n❯ \r\n  esc to interrupt",
  idle: "\x1b[2J\x1b[H● done\r\n❯ \r\n  ? for shortcuts",
};

export const screenToStatus: Benchmark = {
  name: "screen-to-status",
  measures:
    "A screen of an agent, one of 100, that nothing but its screen tells of: from the last byte that it writes until a subscriber of the event stream has the `session.status_changed` that follows from it. It is read when nothing came for 150 ms.",
  baseline: "none",
  budget: "p99 ≤ 400 ms",
  run: (scale) =>
    timed(scale, 400, async ({ pid }, _, turn) => {
      const terminal = openSync(readlinkSync(`/proc/${pid}/fd/1`), constants.O_WRONLY | constants.O_NOCTTY);
      const began = performance.now();
      writeSync(terminal, SHOWN[turn]);
      closeSync(terminal);
      return began;
    }),
};

type Turn = keyof typeof SHOWN;

/** One session after the other begins a turn; in the next round they end them. `does` answers when it was done. */
async function timed(
  scale: Scale,
  atMost: number,
  does: (session: Session, home: BenchHome, turn: Turn) => Promise<number>,
): Promise<Row[]> {
  await using home = new BenchHome();
  await home.ok(["up"]);
  using client = home.client();
  const sessions = await home.spawnMany(client, SESSIONS, SLEEPER, { agent: "claude" });
  const leaving = new AbortController();
  const seen = new Map<SessionId | null, (at: number) => void>();
  const reading = (async () => {
    const stream = client.events({ query: { type: ["session.status_changed"] } }, leaving.signal);
    for await (const event of stream) seen.get(event.session)?.(performance.now());
  })().catch((error: unknown) => {
    if (!leaving.signal.aborted) throw error;
  });
  const rounds: number[][] = [];
  for (let round = 0; round < scale.rounds(4); round++) {
    const turn = round % 2 === 0 ? "working" : "idle";
    const times: number[] = [];
    for (const session of sessions) {
      const told = new Promise<number>((resolve) => seen.set(session.id, resolve));
      const began = await does(session, home, turn);
      times.push((await told) - began);
      seen.delete(session.id);
    }
    rounds.push(times);
  }
  leaving.abort();
  await reading;
  const of = (q: number) => spread(rounds.map((times) => quantile(times, q)));
  return [
    { what: `median of ${SESSIONS}`, unit: "ms", subject: of(0.5) },
    { what: `p99 of ${SESSIONS}`, unit: "ms", subject: of(0.99), limit: { of: "subject", atMost } },
  ];
}
