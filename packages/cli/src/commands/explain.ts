import type { Evidence, Explanation } from "@holdfast/contract/session/evidence";
import type { Session } from "@holdfast/contract/session/session";
import { hasEnded } from "@holdfast/contract/session/status";
import type { Command } from "../command.ts";
import { oneName } from "../session/select.ts";
import { statusCell, waitsFor } from "../session/status-text.ts";
import { tellViewed } from "../session/viewed.ts";
import { color } from "../text/color.ts";
import { formatDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";
import { exceededText } from "../usage/budget-text.ts";

export const command: Command = {
  name: "explain",
  summary: "explain why a session has its status",
  onlyReads: true,
  section: "Watch sessions",
  onlyPrints: true,
  usage: "NAME",
  description:
    "Shows the process, turn, open request and background work of a session, each with its evidence and the age of that evidence. Without evidence the status is unknown.",
  arguments: "sessions",
  examples: [
    ["holdfast explain api", "show why it is waiting"],
    ["holdfast explain api --json", "for a script"],
  ],
  async run(context) {
    const reply = await context.client.call("explainSession", { params: { ref: oneName(context, "explain NAME") } });
    process.stdout.write(`${context.json ? JSON.stringify(reply) : render(reply)}\n`);
    if (!context.json && reply.session.failure !== null) await tellViewed(context, reply.session.id);
    return 0;
  },
};

const SOURCES: Readonly<Record<Evidence["source"], string>> = {
  protocol: "its protocol",
  hook: "its hooks",
  state_file: "one of its own files",
  title: "the terminal's title",
  screen: "its screen",
  processes: "its processes",
};

function render({ session, explanation }: { session: Session; explanation: Explanation }): string {
  const { turn, attention, background, others, sources, unread, newer } = explanation;
  const now = Date.now();
  const by = (evidence: Evidence) => `by ${SOURCES[evidence.source]}, ${ago(evidence, now)}: ${plain(evidence.what)}`;
  const unknown = sources.length === 0 ? "unknown: this agent gives no evidence" : "unknown: no evidence yet";
  const rows: [string, string][] = [
    ["status", statusCell(session)],
    ["process", processOf(session)],
  ];
  const spent = exceededText(session);
  if (spent !== null) rows.push(["budget", plain(spent)]);
  if (!hasEnded(session.status) && session.kind !== "shell") {
    rows.push(
      ["turn", turn ? `${turn.value}, ${by(turn.evidence)}` : unknown],
      [
        "attention",
        attention
          ? `${attention.value ? `waiting for ${waitsFor({ attention: attention.value }, now)}` : "none"}, ${by(attention.evidence)}`
          : unknown,
      ],
      ["background", background ? `${background.value ? "something is running" : "nothing"}, ${by(background.evidence)}` : unknown],
      ...(session.hung
        ? ([
            ["hung", "no progress for a while: no new text or tokens, no hook report, no CPU time of its tools; a spinner does not count"],
          ] as [string, string][])
        : []),
      [
        "detection",
        sources.length === 0 ? "none: only the process is watched" : `by ${sources.map((source) => SOURCES[source]).join(", ")}`,
      ],
      ...others.map((one): [string, string] => ["also seen", `${claimed(one, now)}, ${by(one)}`]),
    );
  }
  if (newer) {
    const record = `npm run record:agents -- ${session.agent} --version ${newer.version}`;
    const stale = `may be outdated: ${session.agent} ${newer.version} is newer than ${newer.recorded}, the version they were made for`;
    rows.push(["rules", plain(`${stale}; update holdfast, or record the agent again in a checkout: ${record}`)]);
  }
  const [first] = unread;
  if (first !== undefined) {
    const file = plain(unread.length === 1 ? first : first.slice(0, first.lastIndexOf("/") + 1));
    rows.push(["ignored", `${unread.length === 1 ? "one hook report" : `${unread.length} hook reports`}; moved to ${file}`]);
  }
  return rows.map(([name, value]) => `${color("dim", name.padEnd(12))} ${value}`).join("\n");
}

function processOf({ name, pid, status, host, exit, kind, left = [] }: Session): string {
  const pids = left.map((each) => each.pid).join(", ");
  const stays = left.length === 0 ? "" : `; still running: pid ${pids} (end: holdfast stop ${plain(name)})`;
  if (hasEnded(status)) return `has ended${exit ? ` (${exit.signal ?? `code ${exit.code ?? "unknown"}`})` : ""}${stays}`;
  if (status === "created") return `not started (start it: holdfast start ${plain(name)})`;
  if (pid === null) return "is starting";
  return `running, pid ${pid}, kept by ${host}${kind === "shell" ? ": a shell counts as working while it runs" : ""}`;
}

function claimed({ claim }: Evidence, now: number): string {
  const parts = [
    ...(claim.turn ? [claim.turn] : []),
    ...(claim.attention ? [`waiting for ${waitsFor({ attention: claim.attention }, now)}`] : []),
    ...(claim.background === undefined ? [] : [claim.background ? "background work" : "no background work"]),
  ];
  return parts.join(", ") || "nothing wanted";
}

function ago({ at, settled }: Evidence, now: number): string {
  return `${formatDuration(Math.max(0, now - Date.parse(at)))} ago${settled === false ? ", still changing" : ""}`;
}
