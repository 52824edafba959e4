import type { Session } from "@holdfast/contract/session/session";
import { hasEnded } from "@holdfast/contract/session/status";
import { waitingSessions } from "@holdfast/contract/session/waiting";
import type { Command } from "../command.ts";
import { connectRunning, isNotListening } from "../connection/running.ts";
import { shortAge } from "../session/status-text.ts";
import { type Color, color } from "../text/color.ts";
import { plain } from "../text/plain.ts";

/** A prompt must not hang on a daemon that does not answer. */
const PATIENCE_MS = 1000;

const TMUX_COLORS: Readonly<Record<string, string>> = { yellow: "yellow", green: "green", cyan: "cyan", red: "red", dim: "colour244" };

export const command: Command = {
  name: "statusline",
  summary: "print one line about all sessions, for a prompt or a tmux bar",
  section: "Watch sessions",
  onlyPrints: true,
  endsAtOnce: true,
  usage: "[--tmux]",
  description: "Never starts a daemon and never waits longer than a second for one. Without a daemon it prints nothing.",
  flags: { tmux: { summary: "use tmux's colour codes" } },
  examples: [
    ["PS1='$(holdfast statusline) $ '", "in a shell prompt"],
    ["set -g status-right '#(holdfast statusline --tmux)'", "in your .tmux.conf"],
    ["holdfast statusline --json", "print the counts, for another bar"],
  ],
  async run(context) {
    using client = connectRunning(context.home);
    let sessions: Session[];
    try {
      ({ sessions } = await client.call("listSessions", { query: { unseen: true } }, AbortSignal.timeout(PATIENCE_MS)));
    } catch (error) {
      if (context.json) process.stdout.write(`${JSON.stringify({ daemon: false, counts: {}, next: null })}\n`);
      else if (!isNotListening(error)) process.stdout.write("holdfast: no answer\n");
      return 0;
    }
    const counts = countsOf(sessions);
    const next = waitingSessions(sessions)[0] ?? null;
    if (context.json) process.stdout.write(`${JSON.stringify({ daemon: true, counts, next })}\n`);
    else process.stdout.write(`${lineOf(counts, next, context.flags.has("tmux") ? inTmux : color)}\n`);
    return 0;
  },
};

function countsOf(sessions: readonly Session[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, hung, attention, failure } of sessions) {
    if (failure) counts.failed = (counts.failed ?? 0) + 1;
    // An ended session counts only if nobody has viewed its failure.
    if (!hasEnded(status)) counts[status] = (counts[status] ?? 0) + 1;
    if (hung) counts.hung = (counts.hung ?? 0) + 1;
    if (attention?.for === "rate_limit") counts.limited = (counts.limited ?? 0) + 1;
  }
  return counts;
}

const SHOWN: readonly [status: string, color: Color][] = [
  ["waiting", "yellow"],
  ["failed", "red"],
  ["hung", "red"],
  ["working", "green"],
  ["idle", "cyan"],
  ["limited", "dim"],
  ["starting", "dim"],
  ["unknown", "dim"],
];

/** `1 waiting (api 3m) · 4 working · 2 idle`; empty if nothing runs. */
function lineOf(counts: Record<string, number>, next: Session | null, paint: (color: Color, text: string) => string): string {
  return SHOWN.flatMap(([status, shade]) => {
    // Sessions that wait for a rate limit to end do not need a person.
    const count = (counts[status] ?? 0) - (status === "waiting" ? (counts.limited ?? 0) : 0);
    if (count <= 0) return [];
    const who = status === "waiting" && next?.status === status ? ` (${plain(next.name)} ${shortAge(next.statusForMs ?? 0)})` : "";
    return [paint(shade, `${count} ${status}${who}`)];
  }).join(" · ");
}

function inTmux(shade: Color, text: string): string {
  return `#[fg=${TMUX_COLORS[shade] ?? "default"}]${text.replaceAll("#", "##")}#[default]`;
}
