import { HoldfastError } from "@holdfast/contract/errors";
import type { Context } from "../command.ts";
import { writeOut } from "../console/write-out.ts";
import { gapSummary } from "../recording/gap-note.ts";
import { type Step, timeline } from "../recording/timeline.ts";
import { tellViewed } from "../session/viewed.ts";
import { formatBytes } from "../text/bytes.ts";
import { plain } from "../text/plain.ts";
import { type Played, Player, timeText } from "./player.ts";

export interface ReplayOptions {
  ref: string;
  run: number | undefined;
  speed: number;
  /** Milliseconds from the recording's start. */
  from: number;
  idleLimit: number | undefined;
}

const SIGNAL_CODES: Readonly<Record<string, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

export async function replay(context: Context, options: ReplayOptions): Promise<number> {
  if (!context.json && !(process.stdin.isTTY && process.stdout.isTTY)) {
    throw new HoldfastError("not_a_terminal", "replay needs a terminal on standard input and output", {
      hint: `print the text: holdfast logs ${options.ref}; write a file: holdfast export ${options.ref} --asciicast FILE`,
    });
  }
  const session = await context.client.call("getSession", { params: { ref: options.ref } });
  const recording = await context.client.call("getRecording", { params: { ref: session.id }, query: { run: options.run } });
  const steps = timeline(context, recording);
  if (context.json) {
    for await (const step of steps) if (step.at >= options.from) await writeOut(`${JSON.stringify(stepJson(step))}\n`);
    if (recording.ended) await tellViewed(context, session.id);
    return 0;
  }
  const name = plain(session.name);
  const played = await watch({ ...options, name, durationMs: recording.durationMs }, steps);
  if (recording.ended) await tellViewed(context, session.id);
  const deleted = recording.begins > 0 ? `; its first ${formatBytes(recording.begins)} were deleted earlier` : "";
  const untimed = played.untimedBytes > 0 ? `; ${formatBytes(played.untimedBytes)} had no times and were played at once` : "";
  const holes = recording.gaps.length > 0 ? `; it has ${gapSummary(recording.gaps)}, where output was not recorded` : "";
  const more = played.finished && !recording.ended ? `\n${name} is still running: holdfast attach ${name}` : "";
  process.stdout.write(`${name}, run ${recording.run}: ${lengthText(played, recording.durationMs)}${deleted}${untimed}${holes}${more}\n`);
  return played.signal === undefined ? 0 : (SIGNAL_CODES[played.signal] ?? 1);
}

async function watch(options: ConstructorParameters<typeof Player>[0], steps: AsyncIterable<Step>): Promise<Played> {
  using player = new Player(options);
  return await player.play(steps);
}

function lengthText({ at, finished }: Played, durationMs: number): string {
  return finished
    ? `${timeText(durationMs)} played to the end`
    : `stopped at ${timeText(Math.min(at, durationMs))} of ${timeText(durationMs)}`;
}

function stepJson(step: Step): object {
  if (step.kind === "gap") return { kind: step.kind, at: step.at, ...step.gap };
  if (step.kind !== "output") return step;
  const { bytes, ...rest } = step;
  return { ...rest, base64: Buffer.from(bytes).toString("base64") };
}
