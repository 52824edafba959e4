import { spawn } from "node:child_process";
import { closeSync, constants, openSync, readlinkSync, writeSync } from "node:fs";
import path from "node:path";
import type { Session, SessionId } from "@holdfast/contract";
import { type Benchmark, quantile, type Row, type Scale, spread } from "./harness.ts";
import { BenchHome, SLEEPER } from "./rig/home.ts";

const SESSIONS = 100;

/** From an agent's action to the event that a subscriber receives. */
export const hookToStatus: Benchmark = {
  name: "hook-to-status",
  measures:
    "Time from the start of a hook of one of 100 agents until a subscriber of the event stream has the resulting `session.status_changed`.",
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
    "Time from the last byte on the screen of one of 100 agents without other evidence until a subscriber of the event stream has the resulting `session.status_changed`. A screen is read after 150 ms without output.",
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

/** All sessions start a turn, one after the other; the next round ends the turns. `does` returns the time of the action. */
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
