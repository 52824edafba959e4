/** Group messages as text. */
import type { GroupMessage } from "@holdfast/contract/message/message";
import { color } from "../text/color.ts";
import { formatDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";

/** One line for the sender. */
export function sentLine({ id, group, role, to }: GroupMessage): string {
  const [first] = to;
  const whom = role === "coordinator" && first ? `${first.name}, who coordinates ${group},` : `${to.length} of ${group}`;
  return plain(`sent to ${whom} as ${id}: ${tally(to)}`);
}

function tally(to: GroupMessage["to"]): string {
  const counts = Map.groupBy(to, ({ state, via }) => (state === "injected" && via === "read" ? "read" : state.replace("_", " ")));
  return [...counts].map(([state, all]) => `${all.length} ${state}`).join(", ");
}

/** The message, its recipients, and the answers. */
export function logEntry({ id, fromName, role, at, to, text, replyTo, answers }: GroupMessage, now: number): string {
  const age = formatDuration(Math.max(0, now - Date.parse(at)));
  const about = [
    `from ${plain(fromName)}`,
    ...(role === "member" ? [] : [`to ${plain(to[0]?.name ?? "the coordinator")}${role === "direct" ? " alone" : ""}`]),
    `${age} ago`,
  ];
  if (replyTo !== null) about.push(`answers ${replyTo}`);
  about.push(to.length === 0 ? "none of its recipients exist any more" : tally(to));
  const lines = (words: string) =>
    words
      .trim()
      .split(/\r?\n/)
      .map((line) => `  ${plain(line.replaceAll("\t", "    "))}`);
  const replies = to.flatMap(({ name, reply }) => (reply === null ? [] : [{ name, reply }]));
  return [
    color("bold", id) + color("dim", `  ${about.join(", ")}`),
    ...lines(text),
    ...replies.map(({ name, reply }) => color("dim", `  ${plain(name)}: ${plain(reply.trim().split("\n")[0] ?? "")}`)),
    ...answers.map((each) => color("dim", `  ${plain(each.fromName)}: ${plain(each.text.trim().split("\n")[0] ?? "")}`)),
  ].join("\n");
}
