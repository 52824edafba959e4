/** `logs`: prints a recording from the daemon, as raw bytes or as rendered text. */
import type { RecordingGap } from "@holdfast/contract/recording/endpoints";
import type { Context } from "../command.ts";
import { writeOut } from "../console/write-out.ts";
import { bytesOf, type Deleted } from "../recording/bytes.ts";
import { deletedNote } from "../recording/deleted-note.ts";
import { gapNote } from "../recording/gap-note.ts";
import { RenderedLines } from "../render/rendered-lines.ts";
import { tellLooked, tellViewed } from "../session/viewed.ts";
import { RawLines, RenderedText } from "./lines.ts";
import { writeJson, writeRaw, writeText } from "./piece.ts";
import { Printer } from "./printer.ts";

export interface LogOptions {
  ref: string;
  follow: boolean;
  raw: boolean;
  tail: number | undefined;
  since: number | undefined;
  run: number | undefined;
}

/** The last lines of a large recording are read from its end: rendering 64 MB for twenty lines takes seconds. */
const TAIL_BYTES_PER_LINE = 8 * 1024;
const TAIL_BYTES_LEAST = 2 * 1024 * 1024;

/** A follower continues with the next run, unless --run was given. */
export async function printLogs(context: Context, options: LogOptions): Promise<void> {
  let { session, run } = await printRun(context, options);
  while (options.follow && options.run === undefined) {
    const { isOver, restartNote, untilSession } = await import("../session/next-run.ts");
    let told = false;
    const tell = (note: string) => {
      if (!told) tellNext(context, { note, run: run + 1, raw: options.raw });
      told = true;
    };
    const awaited = untilSession(context, {
      id: session,
      until: (now) => now.runs > run || isOver(now),
      onChange(now) {
        if (now.restartAt !== null) tell(restartNote(now));
        return undefined;
      },
    });
    // The session was removed after it ended; all of it was printed.
    const next = await awaited.catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== "session_removed") throw error;
    });
    if (!next || next.runs === run) return;
    tell(`… run ${run} has ended; this is run ${run + 1}`);
    ({ session, run } = await printRun(context, { ...options, ref: session, run: run + 1, tail: undefined, since: undefined }));
  }
}

/** Prints one run and returns which one it was. */
async function printRun(context: Context, options: LogOptions): Promise<{ session: string; run: number }> {
  const { follow, raw, tail, since } = options;
  const recording = await context.client.call("getRecording", { params: { ref: options.ref }, query: { run: options.run, since } });
  // Use the id: the session may be renamed meanwhile.
  const which = { ref: recording.session, run: recording.run, until: recording.bytes };
  const write = context.json ? writeJson : raw ? writeRaw : writeText;
  let reach = tail === undefined ? recording.bytes : Math.max(TAIL_BYTES_LEAST, tail * TAIL_BYTES_PER_LINE);
  const first = Math.max(recording.from, recording.begins);
  const missing = { from: recording.from, to: first, limitBytes: recording.limitBytes };
  // A follower ends by a signal, so mark it as seen now.
  if (follow) await tellLooked(context, which.ref);
  for (;;) {
    const from = Math.max(first, recording.bytes - reach);
    const isAll = from === first;
    const torn = isAll && first > recording.from;
    using lines = raw ? new RawLines(tail !== undefined) : new RenderedText(new RenderedLines({ sizes: recording.sizes, from, torn }));
    const note = (deleted: Deleted) => () => tellDeleted(context, { deleted, raw });
    // The tail counts lines of the recording as it is now.
    const before = torn ? note(missing) : undefined;
    const printer = new Printer({ lines, tail, until: recording.bytes, from, isAll, write, before });
    const onDeleted = (deleted: Deleted) => printer.skip(deleted.to, note(deleted));
    const onGap = (gap: RecordingGap) => printer.breakOff({ note: gapNote(gap), json: { gap } });
    const { gaps } = recording;
    if (await printer.print(bytesOf(context, { ...which, from, follow, gaps, onDeleted, onGap }), follow)) break;
    // The lines were longer than estimated.
    reach *= 4;
  }
  // A followed run was read to its end.
  if (recording.ended || follow) await tellViewed(context, which.ref);
  await tellLooked(context, which.ref);
  return { session: recording.session, run: recording.run };
}

/** Announces the next run, whose output follows. */
function tellNext(context: Context, { note, run, raw }: { note: string; run: number; raw: boolean }): void {
  if (context.json) process.stdout.write(`${JSON.stringify({ next: { run } })}\n`);
  else (raw ? process.stderr : process.stdout).write(`${note}\n`);
}

/** In text, the note stands in place of the deleted output. With raw bytes it goes to stderr, because it would look like output. */
async function tellDeleted(context: Context, { deleted, raw }: { deleted: Deleted; raw: boolean }): Promise<void> {
  const { from, to, limitBytes } = deleted;
  if (context.json) await writeOut(`${JSON.stringify({ deleted: { bytes: to - from, limitBytes } })}\n`);
  else if (raw) process.stderr.write(`${deletedNote(deleted)}\n`);
  else await writeOut(`${deletedNote(deleted)}\n`);
}
