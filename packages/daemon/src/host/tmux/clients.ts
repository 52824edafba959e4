/** Pure: the terminals on our server, as tmux tells them. */
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

/** Takes typing away from a client, and lets its size not count; also one that could not type before. */
export function readOnlyCommand({ key }: { key: string }): string {
  return `refresh-client -t ${quote(key)} -f read-only,ignore-size`;
}

/** What a control client is told when a terminal comes, goes, or shows another session. */
export function isAboutClients(notice: string): boolean {
  return notice.startsWith("%client-session-changed ") || notice.startsWith("%client-detached ");
}

/** In the bar of who drives, or of all who look on; an empty one leaves it as it is. A message of tmux's own would freeze their screen. */
export function noticeCommand(client: RunId & { readOnly: boolean }, text: string): string {
  const option = client.readOnly ? "@holdfast_to_observers" : "@holdfast_to_driver";
  return `set-option -t ${target(client)} ${option} ${quote(text.replaceAll("#", "##"))}`;
}

/** The bar at the bottom of each client is made of these (configuration.ts). */
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
