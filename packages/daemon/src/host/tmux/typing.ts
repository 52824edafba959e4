/** Pure: tmux command lines that type into a pane and read its screen, and what tmux answers. */
import type { Screen } from "@holdfast/contract";
import type { RunId } from "../host.ts";
import type { Key } from "../keys.ts";
import { quote, target } from "./commands.ts";

/** `-r` leaves newlines as they are; `-p` adds the paste marks only if the program has asked for them. */
export function writeCommands(run: RunId, options: { name: string; paste: boolean }): string[] {
  // The name is a format: the home's path comes in as a value, of which nothing is expanded.
  const file = quote(`#{HOLDFAST_HOME}/sessions/${run.session}/runs/${run.run}/${options.name}`);
  const buffer = quote(`${run.session}-${options.name}`);
  const paste = `paste-buffer -r -d ${options.paste ? "-p " : ""}-b ${buffer} -t ${target(run)}`;
  return [`load-buffer -b ${buffer} ${file}`, unlessDead(run, paste)];
}

export function forgetCommand(run: RunId, name: string): string {
  return `delete-buffer -b ${quote(`${run.session}-${name}`)}`;
}

/** What the command of `unlessDead` prints instead of doing anything. */
export const DEAD = "dead";

/** A paste into a dead pane is the end of tmux 3.3, and of everything in it; keys for one vanish without a word. Nothing comes between the two. */
function unlessDead(run: RunId, command: string): string {
  return `if-shell -F -t ${target(run)} '#{pane_dead}' ${quote(`display-message -p ${DEAD}`)} ${quote(command)}`;
}

export function pressCommand(run: RunId, keys: readonly Key[]): string {
  const names = keys.map((key) => quote(keyName(key)));
  return unlessDead(run, `send-keys -t ${target(run)} -- ${names.join(" ")}`);
}

export function keyName(key: Key): string {
  return key.base === "Tab" && key.shift ? "BTab" : key.name;
}

/** tmux pins a window that was resized by hand; it is to follow its terminals again. */
export function resizeCommands(run: RunId, size: { columns: number; rows: number }): string[] {
  return [`resize-window -t ${target(run)} -x ${size.columns} -y ${size.rows}`, `set-option -wu -t ${target(run)} window-size`];
}

export const SCREEN_FACTS =
  "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{alternate_on} #{keypad_cursor_flag} #{pane_title}";

export function screenCommands(run: RunId): string[] {
  return [
    `display-message -p -t ${target(run)} ${quote(SCREEN_FACTS)}`,
    `capture-pane -p -t ${target(run)}`,
    `capture-pane -p -e -t ${target(run)}`,
  ];
}

export function parseScreen(replies: readonly string[][], more: { bracketedPaste: boolean }): Screen {
  const [facts = [], lines = [], ansi = []] = replies;
  const [columns, rows, x, y, visible, alternate, application, ...title] = (facts[0] ?? "").split(" ");
  return {
    columns: Number(columns),
    rows: Number(rows),
    cursor: { x: Number(x), y: Number(y), visible: visible === "1" },
    title: title.join(" "),
    lines: lines.map((line) => line.trimEnd()),
    ansi: ansi.join("\r\n"),
    alternate: alternate === "1",
    bracketedPaste: more.bracketedPaste,
    applicationCursor: application === "1",
  };
}
