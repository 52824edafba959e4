/** Pure: the terminals on our server, as tmux reports them. */
import { type HostClient, parseRunMarker, type RunId } from "../host.ts";
import { quote, target } from "./commands.ts";

export const CLIENTS_COMMAND =
  "list-clients -F '#{session_name} #{client_pid} #{client_readonly} #{client_created} #{client_control_mode} #{client_tty} #{client_name}'";

export function parseClients(lines: readonly string[]): HostClient[] {
  const clients: HostClient[] = [];
  for (const line of lines) {
    const match = /^(\S+) (\d+) ([01]) (\d+) 0 (\S*) (\S.*)$/.exec(line);
    const run = match?.[1] === undefined ? undefined : parseRunMarker(match[1]);
    if (!match || !run) continue;
    const [, , pid, readOnly, created, terminal, key = ""] = match;
    clients.push({ ...run, pid: Number(pid), readOnly: readOnly === "1", since: Number(created) * 1000, terminal: terminal || null, key });
  }
  return clients;
}

/** Makes a client read-only and excludes its size. Also safe for a client that is already read-only. */
export function readOnlyCommand({ key }: { key: string }): string {
  return `refresh-client -t ${quote(key)} -f read-only,ignore-size`;
}

/** True for control-mode notices that a terminal attached, detached or switched sessions. */
export function isAboutClients(notice: string): boolean {
  return notice.startsWith("%client-session-changed ") || notice.startsWith("%client-detached ");
}

/** Shows text in the bar of the driver, or of all observers; an empty text removes it. tmux's own display-message would freeze their screen. */
export function noticeCommand(client: RunId & { readOnly: boolean }, text: string): string {
  const option = client.readOnly ? "@holdfast_to_observers" : "@holdfast_to_driver";
  return `set-option -t ${target(client)} ${option} ${quote(text.replaceAll("#", "##"))}`;
}

/** Sets the options that the status bar of each client shows (configuration.ts). */
export function peopleCommands(run: RunId, { driver, observers }: { driver: string | null; observers: number }): string[] {
  const set = (option: string, value: string) => `set-option -t ${target(run)} ${option} ${quote(value)}`;
  const watching = observers === 0 ? "" : `${observers} ${observers === 1 ? "looks" : "look"} on`;
  return [
    set("@holdfast_driver", driver ?? ""),
    set("@holdfast_observers", watching),
    noticeCommand({ ...run, readOnly: true }, ""),
    noticeCommand({ ...run, readOnly: false }, ""),
  ];
}
