import { shellQuote } from "@holdfast/platform";
import { keyForPeople } from "../keys.ts";
import { quote } from "./commands.ts";
import { LEFT } from "./left.ts";

/** The files our tmux server reads. Each start of the daemon rewrites them, and a running server sources them. */

/** tmux's default bindings beyond scrolling, selecting and pasting. Without them a program that uses the mouse gets these clicks too. */
const MENUS = ["", "M-", "C-", "S-"]
  .flatMap((modifier) => ["Pane", "Status", "StatusLeft", "StatusRight", "StatusDefault"].map((where) => `${modifier}MouseDown3${where}`))
  .concat("MouseDown1Status", "WheelUpStatus", "WheelDownStatus", "MouseDrag1Border");

/** Marks a client of a user on another machine. tmux has no custom flags; this flag changes nothing in a session with one pane. */
export const REMOTE_FLAG = "active-pane";

/** The notice shown in a client's bar while there is one (clients.ts). */
const NOTICE = "#{?client_readonly,#{@holdfast_to_observers},#{@holdfast_to_driver}}";

/** No prefix key: the agent gets every key except those for detaching and the next session (Ctrl+B belongs to Claude Code). */
export function tmuxConfiguration(options: {
  detachKey: string;
  nextKey: string;
  terminal: string;
  resizeHook: boolean;
  socketDirectory: string;
}): string {
  // Read-only clients may run only this one command, so it must do everything.
  const leave = `: > ${shellQuote(`${options.socketDirectory}/${LEFT}`)}$$; echo 'detached; it keeps running'`;
  const lines = [
    "set -g prefix None",
    "set -g prefix2 None",
    "unbind -aq -T prefix",
    // A running server may have an older key bound.
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
    // Shown on attached terminals while no daemon runs to remove the pane.
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
    // tmux's own binding, but not for dead panes: pasting into one crashes tmux 3.3. Nor for remote clients: buffers come from all sessions, also
    // from those the client may not see.
    `bind -n MouseDown2Pane select-pane -t = \\; if -F '#{||:#{pane_in_mode},#{mouse_any_flag}}' { send-keys -M } { if -F '#{||:#{pane_dead},#{m:*${REMOTE_FLAG}*,#{client_flags}}}' '' { paste-buffer -p } }`,
    // Remove menus that split or kill a pane, and bindings that move a client to another window.
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
      `#{?client_readonly,#{?#{e|>=:#{client_width},100},holdfast control request #{s/ .*//:@holdfast_title} · ,},${keyForPeople(options.nextKey)} next waiting · }${keyForPeople(options.detachKey)} detaches }'`,
    // The end of a program must not depend on a daemon: the server itself writes how the run ended.
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
 * Writes exit.json (temp + rename): a status or a signal number, whichever tmux reports, and seconds since boot, a monotonic clock. Keeps the file
 * of a reaper.
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
 * Asks the daemon, starting one if necessary, to move the client that pressed the key; the daemon knows the client's owner. On failure the first
 * line of the error is shown at the bottom of that client, with `#` and `%` doubled, because tmux would expand them.
 */
export function nextSession(options: { cli: readonly string[]; tmux: string }): string {
  return `# Run by the tmux server when somebody presses the key for the next session that waits: client, its pid, session.
said=$(HOLDFAST_AS=owner ${options.cli.map(shellQuote).join(" ")} __next "$1" "$2" "$3" 2>&1) && exit 0
said=$(printf '%s' "$said" | sed -e 's/[#%]/&&/g' -e 1q)
exec ${shellQuote(options.tmux)} display-message -c "$1" "$said"
`;
}
