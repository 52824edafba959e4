/** Statistics of the members of a group and its subgroups; each session is counted once. */
import type { GroupStats, SessionId, SessionStatus, Sums } from "@holdfast/contract";
import type { GroupQueries } from "../projection/group-queries.ts";
import type { SessionQueries } from "../projection/session-queries.ts";

export function statsOf(
  group: string,
  rooms: { queries: GroupQueries; sessions: SessionQueries; spent(sessions: readonly SessionId[]): Sums },
): GroupStats {
  const { queries, sessions } = rooms;
  const path = queries.resolve(group);
  const members = queries.membersBelow(path);
  const ids = members.map(({ session }) => session);
  const byStatus: Partial<Record<SessionStatus, number>> = {};
  for (const { status } of members) byStatus[status] = (byStatus[status] ?? 0) + 1;
  const ended = members.filter((member) => member.ended).length;
  const paths = [path, ...queries.below(path)];
  const messages = queries.messagesAmong(ids, paths);
  const replyTimes = messages.flatMap(({ replyMs }) => (replyMs === null ? [] : [replyMs]));
  return {
    group: path,
    sessions: { total: members.length, alive: members.length - ended, ended, byStatus },
    turns: ids.reduce((sum, id) => sum + (sessions.get(id)?.turns ?? 0), 0),
    spent: rooms.spent(ids),
    messages: { sent: messages.length, replied: replyTimes.length, medianReplyMs: median(replyTimes) },
    keys: paths.reduce((sum, each) => sum + queries.keyCount(each), 0),
  };
}

export function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? null : Math.round((low + high) / 2);
}
