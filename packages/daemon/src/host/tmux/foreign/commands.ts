/** Pure: tmux commands for the user's own server, and parsers for their output. Nothing here sets an option, a hook or a layout. */
import { shellQuote } from "@holdfast/platform";
import { parseExit } from "../../exit.ts";
import type { Key } from "../../keys.ts";
import type { Pane, PaneState } from "../../place.ts";
import { quote, splitRecorder } from "../commands.ts";
import { DEAD, keyName, SCREEN_FACTS } from "../typing.ts";

type NamedPane = Pick<Pane, "id" | "pid">;

/** Names come last, because they may contain blanks. */
export const PANES = [
  "list-panes",
  "-a",
  "-F",
  "#{pane_id} #{pane_pid} #{pane_dead} #{pane_pipe} #{window_active} #{pane_width} #{pane_height} c=#{pane_dead_status} s=#{pane_dead_signal} #{session_id} #{window_index} #{pane_index} #{session_name}",
];

export function parsePanes(lines: readonly string[]): PaneState[] {
  return lines.flatMap((line) => {
    const match = /^(%\d+) (\d+) ([01]) ([01]) ([01]) (\d+) (\d+) c=(\d*) s=(\w*) (\$\d+) (\d+) (\d+) (.*)$/.exec(line);
    if (!match) return [];
    const [
      ,
      id = "",
      pid,
      dead,
      piped,
      shown,
      columns,
      rows,
      status = "",
      signal = "",
      sessionId = "",
      window = "",
      index = "",
      session = "",
    ] = match;
    const exit = dead === "1" ? parseExit(status, signal) : null;
    const is = { dead: dead === "1", piped: piped === "1", shown: shown === "1" };
    const size = { columns: Number(columns), rows: Number(rows) };
    return [{ id, pid: Number(pid), ...is, ...size, exit, sessionId, session, window, index }];
  });
}

/**
 * Records only if the pane has no pipe, because ours would end the user's. tmux expands `#` and `%` in the command before a shell sees it. The
 * umask is set, because the server's may let others read the output.
 */
export function recordCommand(pane: string, { directory, prefix }: { directory: string; prefix: string }): string[] {
  const recorder = splitRecorder(prefix).replace("{}", "$d");
  const script = `umask 077; d=${shellQuote(directory)}; echo $$ > "$d/recorder"; export LC_ALL=C; exec ${recorder} 2>> "$d/recorder"`;
  const literal = script.replaceAll("#", "##").replaceAll("%", "%%");
  return ["if-shell", "-F", "-t", pane, "#{pane_pipe}", "", `pipe-pane -O -t ${quote(pane)} ${quote(literal)}`];
}

/** Types from standard input through our own buffer, which is then deleted: any size and any byte, in one piece. */
export function writeCommand(pane: NamedPane, { buffer, paste }: { buffer: string; paste: boolean }): string[] {
  const command = `paste-buffer -r -d ${paste ? "-p " : ""}-b ${quote(buffer)} -t ${quote(pane.id)}`;
  return ["load-buffer", "-b", buffer, "-", ";", ...unlessDead(pane, command, `delete-buffer -b ${quote(buffer)} ; `)];
}

export function pressCommand(pane: NamedPane, keys: readonly Key[]): string[] {
  return unlessDead(pane, `send-keys -t ${quote(pane.id)} -- ${keys.map((key) => quote(keyName(key))).join(" ")}`);
}

/** Pasting into a dead pane crashes tmux 3.3 with all its sessions. A pane with a different first process is a different pane. */
function unlessDead({ id, pid }: NamedPane, command: string, first = ""): string[] {
  return ["if-shell", "-F", "-t", id, `#{||:#{pane_dead},#{!=:#{pane_pid},${pid}}}`, `${first}display-message -p ${DEAD}`, command];
}

export function screenCommand({ id, pid }: NamedPane): string[] {
  const capture = `capture-pane -p -t ${quote(id)}`;
  const command = `display-message -p -t ${quote(id)} ${quote(SCREEN_FACTS)} ; ${capture} ; ${capture} -e`;
  return ["if-shell", "-F", "-t", id, `#{==:#{pane_pid},${pid}}`, command, `display-message -p ${DEAD}`];
}

/** Splits the lines of the three replies; the first reply has the length of the others. */
export function screenReplies(lines: readonly string[]): string[][] {
  const rows = Number(lines[0]?.split(" ")[1] ?? 0);
  return [lines.slice(0, 1), lines.slice(1, 1 + rows), lines.slice(1 + rows, 1 + 2 * rows)];
}

export const CLIENTS = [
  "list-clients",
  "-F",
  "#{session_id} #{client_pid} #{client_readonly} #{client_created} #{client_control_mode} #{client_tty} #{client_name}",
];

export interface PaneClient {
  sessionId: string;
  pid: number;
  readOnly: boolean;
  since: number;
  terminal: string | null;
  key: string;
}

export function parsePaneClients(lines: readonly string[]): PaneClient[] {
  return lines.flatMap((line) => {
    const match = /^(\$\d+) (\d+) ([01]) (\d+) 0 (\S*) (\S.*)$/.exec(line);
    if (!match) return [];
    const [, sessionId = "", pid, readOnly, created, terminal, key = ""] = match;
    return [{ sessionId, pid: Number(pid), readOnly: readOnly === "1", since: Number(created) * 1000, terminal: terminal || null, key }];
  });
}
