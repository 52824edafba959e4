/** Pure: tmux command lines that type into a pane and read its screen, and parsers for the replies. */
import type { Screen } from "@holdfast/contract";
import type { RunId } from "../host.ts";
import type { Key } from "../keys.ts";
import { quote, target } from "./commands.ts";

/** `-r` keeps newlines unchanged; `-p` adds the paste marks only if the program has asked for them. */
export function writeCommands(run: RunId, options: { name: string; paste: boolean }): string[] {
  // The file name is a format. The home's path is inserted as a value, which tmux does not expand again.
  const file = quote(`#{HOLDFAST_HOME}/sessions/${run.session}/runs/${run.run}/${options.name}`);
  const buffer = quote(`${run.session}-${options.name}`);
  const paste = `paste-buffer -r -d ${options.paste ? "-p " : ""}-b ${buffer} -t ${target(run)}`;
  return [`load-buffer -b ${buffer} ${file}`, unlessDead(run, paste)];
}

export function forgetCommand(run: RunId, name: string): string {
  return `delete-buffer -b ${quote(`${run.session}-${name}`)}`;
}

/** Printed by the `unlessDead` command instead of running anything. */
export const DEAD = "dead";

/** Pasting into a dead pane crashes tmux 3.3 with all its sessions; keys for a dead pane are lost silently. Check and command run without a break. */
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

/** tmux pins a manually resized window; unset that, so that it follows its terminals again. */
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
