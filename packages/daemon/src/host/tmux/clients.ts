/** Pure: the terminals on our server, as tmux tells them. */
import { type HostClient, parseRunMarker } from "../host.ts";

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

/** What a control client is told when a terminal comes, goes, or shows another session. */
export function isAboutClients(notice: string): boolean {
  return notice.startsWith("%client-session-changed ") || notice.startsWith("%client-detached ");
}
