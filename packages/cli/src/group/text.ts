/** Groups as text. */
import type { Group, GroupMember } from "@holdfast/contract/group/group";
import type { HoldfastClient } from "@holdfast/sdk/client";
import { color } from "../text/color.ts";
import { columns } from "../text/columns.ts";
import { localTime } from "../text/local-time.ts";
import { plain } from "../text/plain.ts";

export function groupTable(groups: readonly Group[]): string {
  return columns(
    ["GROUP", "MEMBERS", "COORDINATOR", "KEYS"],
    groups.map((group) => [plain(group.path), membersText(group), plain(group.coordinator?.name ?? "–"), String(group.keys)]),
  );
}

/** `3 of 32`, `3 of 32, 1 ended`. */
export function membersText({ members, limit }: Pick<Group, "members" | "limit">): string {
  const ended = members.filter((member) => member.ended).length;
  return `${members.length} of ${limit}${ended === 0 ? "" : `, ${ended} ended`}`;
}

export function memberTable(members: readonly GroupMember[]): string {
  const row = ({ name, status, agent, coordinator, joinedAt }: GroupMember) => [
    plain(name),
    status,
    plain(agent),
    localTime(joinedAt),
    coordinator ? "coordinator" : "",
  ];
  return columns(["MEMBER", "STATUS", "AGENT", "JOINED", ""], members.map(row));
}

export function rows(facts: readonly (readonly [string, string | null])[]): string {
  return facts.flatMap(([name, value]) => (value === null ? [] : [`${color("dim", name.padEnd(12))} ${plain(value)}`])).join("\n");
}

/** Returns a function that names a principal: a member of the group by its session's name. */
export async function callers(client: HoldfastClient, group: string): Promise<(principal: string) => string> {
  const { members } = await client.call("getGroup", { params: { group } });
  const names = new Map(members.map(({ session, name }) => [`session:${session}`, name]));
  return (principal) => plain(names.get(principal) ?? principal);
}
