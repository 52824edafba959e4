import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { newSessionId, Principal, type Session } from "@holdfast/contract";
import { openDatabase } from "@holdfast/daemon/journal/database";
import { type Draft, Journal } from "@holdfast/daemon/journal/journal";
import { sessionsProjection } from "@holdfast/daemon/projection/sessions";
import { writeSessionFiles } from "@holdfast/daemon/session/run/run-files";
import { openHome, runDirectory } from "@holdfast/platform";
import { type Benchmark, inTurns, type Row, spread } from "./harness.ts";
import { BenchHome, usualEnvironment } from "./rig/home.ts";

const SESSIONS = 1000;
const RECORDING_BYTES = Math.floor(2 ** 30 / SESSIONS);

export const restartEnded: Benchmark = {
  name: "restart-1000-ended",
  measures:
    "`kill -9` of the daemon of a home with 1,000 ended sessions and 1 GB of recordings. Then the wall time of `holdfast ls --all --json`, which starts a new daemon and lists all sessions, and of `holdfast du --json`.",
  baseline: "the same commands with a running daemon",
  budget: "≤ 1.5 s until all are listed",
  async run(scale): Promise<Row[]> {
    await using home = new BenchHome();
    fill(home);
    await home.ok(["up"]);
    const times = await inTurns(scale.rounds(9), {
      listed: async () => {
        await home.killDaemon();
        return timed(() => listed(home));
      },
      "listed, running": () => timed(() => listed(home)),
      "du, running": () => timed(() => home.ok(["du", "--json"])),
    });
    const row = (what: string, values: readonly number[]): Row => ({ what, unit: "ms", subject: spread(values) });
    return [
      {
        ...row("all 1,000 listed", times.listed),
        baseline: { name: "running", ...spread(times["listed, running"]) },
        limit: { of: "subject", atMost: 1500 },
      },
      row("du, with a running daemon", times["du, running"]),
    ];
  },
};

async function listed(home: BenchHome): Promise<void> {
  const sessions = await home.json<Session[]>(["ls", "--all"]);
  if (sessions.length !== SESSIONS) throw new Error(`${sessions.length} of ${SESSIONS} sessions were listed`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** The events and files of sessions that ran on tmux and ended. */
function fill(bench: BenchHome): void {
  const home = openHome(bench.env);
  mkdirSync(home.sessions, { recursive: true });
  const db = openDatabase(home.database);
  const journal = new Journal({ db, projections: [sessionsProjection], machineName: "bench" });
  const output = Buffer.from(
    `${"a line of what an agent says, as long as many are".padEnd(78)}\r\n`.repeat(Math.ceil(RECORDING_BYTES / 80)),
  );
  const times = Array.from({ length: 400 }, (_, i) => `${1_794_717_879_123 + i * 250} ${Math.floor((i * RECORDING_BYTES) / 400)}\n`).join(
    "",
  );
  for (let index = 0; index < SESSIONS; index++) {
    const id = newSessionId();
    const directory = runDirectory(home, id, 1);
    mkdirSync(directory, { recursive: true });
    const spec = {
      id,
      name: `session-${index}`,
      kind: "shell",
      agent: "shell",
      role: null,
      objective: null,
      host: "tmux",
      cwd: "/",
    } as const;
    writeSessionFiles(home, { ...spec, v: 1, command: ["make", "-j8"], umask: 0o022 }, usualEnvironment(bench.env));
    appendFileSync(path.join(directory, "output.000000"), output.subarray(0, RECORDING_BYTES));
    writeFileSync(path.join(directory, "times.idx"), times);
    writeFileSync(path.join(directory, "exit.json"), '{"status":"0","signal":"","uptime":"100.00"}\n');
    writeFileSync(path.join(directory, "recorder"), "12345\n");
    journal.append(...life(spec, directory));
  }
  db.close();
}

function life(
  { id, ...spec }: { id: ReturnType<typeof newSessionId>; name: string } & Record<string, unknown>,
  directory: string,
): Draft[] {
  const about = { actor: Principal.parse("user:bench"), session: id };
  const outputPath = path.join(directory, "output.000000");
  const end = { run: 1, exit: { code: 0, signal: null }, cause: "exited", durationMs: 60_000, bytes: RECORDING_BYTES } as const;
  const endedAt = new Date().toISOString();
  return [
    { ...about, type: "session.created", data: { ...spec, command: ["make", "-j8"] } },
    { ...about, type: "session.started", data: { run: 1, pid: 12_345, pidStart: "00000000-100", outputPath } },
    { ...about, type: "session.ended", data: { ...end, endedAt, lastActivityAt: endedAt } },
    { ...about, type: "session.viewed", data: { run: 1 } },
  ] as Draft[];
}
