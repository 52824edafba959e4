/** Pure: tmux command lines and parsers for their output. Nothing here runs anything. */
import { SEGMENT_BYTES } from "@holdfast/platform";
import { parseExit } from "../exit.ts";
import { type LiveRun, parseRunMarker, type RunId, runMarker, type StartRequest } from "../host.ts";
import { reaperCommand } from "./reaper.ts";

/** The session of the control client. Its pane is dead from the start, so it costs no process. */
export const ANCHOR = "holdfast";

/**
 * Quotes one argument of a tmux command line. Control characters would end or split the line, so they are refused, not escaped. User text is
 * validated before it reaches this function.
 */
export function quote(argument: string): string {
  if (/\p{Cc}/u.test(argument)) throw new Error("a tmux argument cannot contain control characters");
  return `'${argument.replaceAll("'", `'\\''`)}'`;
}

/** `=` makes tmux match the name exactly. The colon makes it a session, because `a-1` could mean a window. */
export function target(run: RunId): string {
  return quote(`=${runMarker(run)}:`);
}

/**
 * Start and recorder are one command sequence, which tmux runs without a break, so no byte precedes the recorder. Paths use the server's own
 * HOLDFAST_HOME, so that the home's name need not survive the quoting of three parsers.
 */
export function startCommands(request: StartRequest, how: { recorder: string; reaper: string | undefined }): string[] {
  const directory = `$HOLDFAST_HOME/sessions/${request.session}/runs/${request.run}`;
  const command = how.reaper ? reaperCommand(how.reaper, request) : ["/bin/sh", "-c", `. "${directory}/launch"`];
  return [
    `new-session -d -s ${quote(runMarker(request))} -x ${request.columns} -y ${request.rows} -c / ${command.map(quote).join(" ")}`,
    `set-option -t ${target(request)} @holdfast_title ${quote(request.title)}`,
    pipeCommand(request, how.recorder),
    // tmux sets the machine's name as every pane's title; clear it, so that only the program sets a title.
    `select-pane -t ${target(request)} -T ''`,
    `display-message -p -t ${target(request)} '#{pane_pid}'`,
  ];
}

/**
 * The recorder writes its pid, so that the end of a run can wait for its last byte, and then its error message if it fails. Even on a full disk the
 * message fits behind the pid, in the block that the file already has.
 */
export function pipeCommand(run: RunId, recorder: string): string {
  const directory = `$HOLDFAST_HOME/sessions/${run.session}/runs/${run.run}`;
  return `pipe-pane -O -t ${target(run)} ${quote(`echo $$ > "${directory}/recorder"; export LC_ALL=C; exec ${recorder.replace("{}", directory)} 2>> "${directory}/recorder"`)}`;
}

export function splitRecorder(prefix: string): string {
  return `split -b ${SEGMENT_BYTES} -d -a 6 - "{}/${prefix}"`;
}

export const LIST_COMMAND =
  "list-panes -a -F '#{session_name} #{pane_pid} #{pane_dead} #{pane_pipe} c=#{pane_dead_status} s=#{pane_dead_signal}'";

export function parseList(lines: readonly string[]): LiveRun[] {
  const runs: LiveRun[] = [];
  for (const line of lines) {
    const match = /^(\S+) (\d+) ([01]) ([01]) c=(\d*) s=(\w*)$/.exec(line);
    const run = match?.[1] === undefined ? undefined : parseRunMarker(match[1]);
    if (!match || !run) continue;
    const dead = match[3] === "1";
    runs.push({
      ...run,
      pid: Number(match[2]),
      dead,
      recording: match[4] === "1",
      exit: dead ? parseExit(match[5] ?? "", match[6] ?? "") : null,
    });
  }
  return runs;
}
