import { shellQuote } from "@holdfast/platform";
import { keyForPeople } from "../keys.ts";
import { quote } from "./commands.ts";
import { LEFT } from "./left.ts";

/** The files our tmux server reads. Written anew at every start of the daemon and sourced by a running server. */

/** What tmux binds by itself beside scrolling, selecting and pasting. A program that wants the mouse gets these clicks too. */
const MENUS = ["", "M-", "C-", "S-"]
  .flatMap((modifier) => ["Pane", "Status", "StatusLeft", "StatusRight", "StatusDefault"].map((where) => `${modifier}MouseDown3${where}`))
  .concat("MouseDown1Status", "WheelUpStatus", "WheelDownStatus", "MouseDrag1Border");

/** The mark of a client that stands for somebody elsewhere. A flag that changes nothing where a session has one pane; tmux has none for others to use. */
export const REMOTE_FLAG = "active-pane";

/** What is told to whoever sees the bar, for as long as it is (clients.ts). */
const NOTICE = "#{?client_readonly,#{@holdfast_to_observers},#{@holdfast_to_driver}}";

/** No prefix key: every key but the one that detaches belongs to the agent (Ctrl+B is Claude Code's own). */
export function tmuxConfiguration(options: {
  detachKey: string;
  nextKey: string;
  terminal: string;
  resizeHook: boolean;
  socketDirectory: string;
}): string {
  // The one command that a client may use that only looks on, so it must do all of it.
  const leave = `: > ${shellQuote(`${options.socketDirectory}/${LEFT}`)}$$; echo 'detached; it keeps running'`;
  const lines = [
    "set -g prefix None",
    "set -g prefix2 None",
    "unbind -aq -T prefix",
    // A server that runs may have another key from before.
    `if -F '#{@holdfast_detach}' { run -C "unbind -q -n '#{@holdfast_detach}'" }`,
    `set -g @holdfast_detach '${options.detachKey}'`,
    `bind -n '${options.detachKey}' detach-client -E ${quote(leave)}`,
    `if -F '#{@holdfast_next}' { run -C "unbind -q -n '#{@holdfast_next}'" }`,
    `set -g @holdfast_next '${options.nextKey}'`,
    `bind -n '${options.nextKey}' run-shell -b 'exec /bin/sh "$HOLDFAST_HOME/next-session" "#{client_name}" "#{client_pid}" "#{session_name}"'`,
    "set -s exit-empty off",
    "set -s exit-unattached off",
    "set -g destroy-unattached off",
    "set -g remain-on-exit on",
    // Seen by somebody who is attached while no daemon runs to take the pane away.
    `set -qg remain-on-exit-format 'The program has ended#{?#{pane_dead_status}, with status #{pane_dead_status},}; ${keyForPeople(options.detachKey)} leaves'`,
    "set -s escape-time 0",
    "set -s focus-events on",
    "set -qs extended-keys on",
    "set -qas terminal-features ',*:RGB:extkeys:clipboard:focus:title'",
    `set -g default-terminal ${options.terminal}`,
    "set -g default-shell /bin/sh",
    "set -g update-environment ''",
    "set -g history-limit 10000",
    "set -g mouse on",
    // As it is, but not into a dead pane: that ends tmux 3.3. Nor for somebody elsewhere: buffers are of all sessions, also of those they may not see.
    `bind -n MouseDown2Pane select-pane -t = \\; if -F '#{||:#{pane_in_mode},#{mouse_any_flag}}' { send-keys -M } { if -F '#{||:#{pane_dead},#{m:*${REMOTE_FLAG}*,#{client_flags}}}' '' { paste-buffer -p } }`,
    // Menus that split or kill a pane, and what moves a client to another window, are none of ours.
    ...MENUS.map((key) => `unbind -q -n ${key}`),
    "set -g set-titles on",
    "set -g set-titles-string '#{@holdfast_title}'",
    "set -g automatic-rename off",
    "set -g allow-rename off",
    "set -g visual-bell off",
    "set -g monitor-activity off",
    "set -g window-size latest",
    "set -g status-interval 0",
    "set -g status-style 'reverse'",
    `set -g status-format[0] '#{?${NOTICE}, ${NOTICE} ,` +
      " #{@holdfast_title} #{?client_readonly,· read only · #{?#{@holdfast_driver},#{@holdfast_driver},nobody} drives ,#{?#{@holdfast_observers},· #{@holdfast_observers} ,}}#[align=right]" +
      `#{?client_readonly,#{?#{e|>=:#{client_width},100},holdfast control request #{s/ .*//:@holdfast_title} · ,},${keyForPeople(options.nextKey)} next that waits · }${keyForPeople(options.detachKey)} detaches }'`,
    // A hook that dies with its program must not depend on a daemon: the server itself writes how the run ended.
    `set-hook -g pane-died 'run-shell -b '"'"'exec /bin/sh "$HOLDFAST_HOME/pane-died" "#{session_name}" "#{pane_dead_status}" "#{pane_dead_signal}"'"'"''`,
  ];
  if (options.resizeHook) {
    lines.push(
      `set-hook -g window-resized 'run-shell -b '"'"'exec /bin/sh "$HOLDFAST_HOME/pane-resized" "#{session_name}" "#{window_width}" "#{window_height}"'"'"''`,
    );
  }
  return `${lines.join("\n")}\n`;
}

const RUN_OF_NAME = `case $1 in *-*) ;; *) exit 0 ;; esac
d="$HOLDFAST_HOME/sessions/\${1%-*}/runs/\${1##*-}"
[ -d "$d" ] || exit 0
`;

/**
 * exit.json by temp + rename; a status or a signal number, whichever tmux gave, and seconds since boot: nobody sets that clock. A
 * reaper has said it before.
 */
export const PANE_DIED = `# Run by the tmux server when a program has ended: session name, exit status, signal.
${RUN_OF_NAME}[ -e "$d/exit.json" ] && exit 0
u=; [ -r /proc/uptime ] && read -r u _ < /proc/uptime
printf '{"status":"%s","signal":"%s","uptime":"%s"}\\n' "$2" "$3" "$u" > "$d/exit.json.$$" && mv "$d/exit.json.$$" "$d/exit.json"
`;

export const PANE_RESIZED = `# Run by the tmux server when a window has another size: session name, columns, rows.
${RUN_OF_NAME}printf '%s %s\\n' "$2" "$3" > "$d/size.$$" && mv "$d/size.$$" "$d/size"
`;

/**
 * Asks the daemon, starting one if need be, to move the very client that pressed the key; the daemon knows whose it is. The first line of why it
 * cannot is shown at the bottom of that client: tmux would replace `#` and `%` in it.
 */
export function nextSession(options: { cli: readonly string[]; tmux: string }): string {
  return `# Run by the tmux server when somebody presses the key for the next session that waits: client, its pid, session.
said=$(HOLDFAST_AS=owner ${options.cli.map(shellQuote).join(" ")} __next "$1" "$2" "$3" 2>&1) && exit 0
said=$(printf '%s' "$said" | sed -e 's/[#%]/&&/g' -e 1q)
exec ${shellQuote(options.tmux)} display-message -c "$1" "$said"
`;
}
