/** `export`: writes a recording to a file for people and players. It streams, so memory stays flat for any recording. */
import type { RecordingGap } from "@holdfast/contract/recording/endpoints";
import type { Session } from "@holdfast/contract/session/session";
import type { Context } from "../command.ts";
import { writeOut } from "../console/write-out.ts";
import { bytesOf, type Deleted } from "../recording/bytes.ts";
import { deletedNote } from "../recording/deleted-note.ts";
import { gapNote, gapSummary } from "../recording/gap-note.ts";
import { type Step, timeline, type Which } from "../recording/timeline.ts";
import { HTML_END, htmlHead, htmlNote, htmlRow } from "../render/html.ts";
import type { RowReader } from "../render/recording-text.ts";
import { RenderedLines, type SizeFrom } from "../render/rendered-lines.ts";
import { tellViewed } from "../session/viewed.ts";
import { formatBytes } from "../text/bytes.ts";
import { formatDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";
import { asciicast } from "./asciicast.ts";
import { ExportFile } from "./file.ts";
import { Progress } from "./progress.ts";

export type Format = "asciicast" | "text" | "html";

interface Source extends Which {
  sizes: SizeFrom[];
  startedAt: number | null;
  durationMs: number;
  limitBytes: number | null;
  /** Reports progress in bytes. */
  read(bytes: number): void;
  /** Counts output without times. */
  untimed: { bytes: number; stretches: number };
}

export async function exportRecording(
  context: Context,
  options: { ref: string; run: number | undefined; format: Format; file: string; force: boolean },
): Promise<void> {
  const session = await context.client.call("getSession", { params: { ref: options.ref } });
  const recording = await context.client.call("getRecording", { params: { ref: session.id }, query: { run: options.run } });
  const untimed = { bytes: 0, stretches: 0 };
  using progress = new Progress(recording.bytes - recording.begins);
  const source: Source = { ...recording, untimed, read: (bytes) => progress.add(bytes) };
  const content = CONTENT[options.format](context, source, session);
  if (options.file === "-") {
    for await (const text of content) await writeOut(text);
    if (recording.ended) await tellViewed(context, session.id);
    return;
  }
  using file = new ExportFile(options.file, options);
  for await (const text of content) file.write(text);
  file.finish();
  progress[Symbol.dispose]();
  if (recording.ended) await tellViewed(context, session.id);
  const { run, bytes: recordingBytes, durationMs } = recording;
  const untimedBytes = options.format === "asciicast" ? untimed.bytes : null;
  const { format } = options;
  const result = { session: session.id, run, format, file: options.file, bytes: file.bytes, recordingBytes, durationMs };
  process.stdout.write(
    context.json ? `${JSON.stringify({ ...result, untimedBytes, gaps: recording.gaps })}\n` : `${told(session, source, options)}\n`,
  );
}

type Content = (context: Context, source: Source, session: Session) => AsyncGenerator<string>;

const CONTENT: Readonly<Record<Format, Content>> = {
  async *asciicast(context, source, session) {
    const header = { title: session.name, command: session.command.join(" "), startedAt: source.startedAt };
    yield* asciicast(counted(timeline(context, source), source), header);
  },
  async *text(context, source) {
    yield* lines(context, source, { note: (text) => text });
  },
  async *html(context, source, session) {
    yield htmlHead(`${session.name} · run ${source.run}`);
    yield* lines(context, source, { note: htmlNote, row: htmlRow });
    yield HTML_END;
  },
};

async function* counted(steps: AsyncIterable<Step>, source: Source): AsyncGenerator<Step> {
  for await (const step of steps) {
    if (step.kind === "output") source.read(step.bytes.length);
    if (step.kind === "untimed") {
      source.untimed.stretches++;
      source.untimed.bytes += step.bytes;
    }
    yield step;
  }
}

/** Yields many lines at once: millions of small pieces would take longer than their content. */
async function* lines(
  context: Context,
  source: Source,
  { note, row }: { note(text: string): string; row?: RowReader },
): AsyncGenerator<string> {
  const { session: ref, run, bytes: until, sizes, begins, limitBytes, gaps } = source;
  using rendered = new RenderedLines({ sizes, from: begins, torn: begins > 0, ...(row ? { row } : {}) });
  if (begins > 0) yield `${note(deletedNote({ from: 0, to: begins, limitBytes }))}\n`;
  let before: string[] = [];
  const onDeleted = (deleted: Deleted) => {
    rendered.skip(deleted.to);
    before.push(...rendered.ready({ follow: true, atRest: true }), note(deletedNote(deleted)));
  };
  const onGap = (gap: RecordingGap) => {
    before.push(...rendered.breakOff(), note(gapNote(gap)));
  };
  for await (const chunk of bytesOf(context, { ref, run, from: begins, until, follow: false, gaps, onDeleted, onGap })) {
    rendered.write(chunk);
    source.read(chunk.length);
    yield joined([...before, ...rendered.ready({ follow: false, atRest: false })]);
    before = [];
  }
  yield joined([...before, ...rendered.finish()]);
}

function joined(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function told(session: Session, source: Source, { file, format }: { file: string; format: Format }): string {
  const { bytes, stretches } = source.untimed;
  const notes = [
    ...(format === "asciicast" ? [formatDuration(source.durationMs)] : []),
    ...(bytes > 0 ? [`${formatBytes(bytes)} in ${stretches === 1 ? "1 stretch" : `${stretches} stretches`} without times, marked`] : []),
    ...(source.gaps.length > 0 ? [`${gapSummary(source.gaps)}, marked`] : []),
    ...(source.begins > 0 ? [`its first ${formatBytes(source.begins)} had been deleted`] : []),
    ...(source.ended ? [] : ["it is still running: this is the output so far"]),
  ];
  return `${plain(session.name)}, run ${source.run}, written to ${plain(file)}${notes.length > 0 ? ` (${notes.join("; ")})` : ""}`;
}
