import type { Principal, SessionId } from "@holdfast/contract";
import { meansOf } from "../agent/means.ts";
import type { Profiles } from "../agent/profiles/index.ts";
import type { Draft } from "../journal/journal.ts";
import type { Memberships } from "../session/memberships.ts";
import type { Groups } from "./groups.ts";
import { introduction, withDeclared } from "./introduction.ts";
import type { GroupReach } from "./reach.ts";

/** The group operations that starting a session needs. */
export class GroupMemberships implements Memberships {
  readonly #groups: Groups;
  readonly #reach: GroupReach;
  readonly #profiles: Profiles;
  readonly #directory: string;

  /** `directory`: the directory of all session files. */
  constructor(options: { groups: Groups; reach: GroupReach; profiles: Profiles; directory: string }) {
    this.#groups = options.groups;
    this.#reach = options.reach;
    this.#profiles = options.profiles;
    this.#directory = options.directory;
  }

  check(groups: readonly string[], { parent }: { parent: SessionId | null }): string[] {
    const paths = this.#groups.check(groups);
    for (const path of paths) this.#reach.checkJoin(parent ?? undefined, path, "spawn");
    return paths;
  }

  joining(session: SessionId, groups: readonly string[], { actor, parent }: { actor: Principal; parent: SessionId | null }): Draft[] {
    return this.#groups.joining(session, groups, { actor, maker: parent });
  }

  introduction({ id, name, agent, kind, groups, declared = [], rule }: Parameters<Memberships["introduction"]>[0]): string | null {
    if (groups.length === 0 || kind === "shell") return null;
    const means = meansOf(this.#profiles.find(agent), { isChat: kind === "conversation", directory: this.#directory, rule });
    const goals = this.#groups.queries.goals(groups);
    return introduction({ name, groups, goals, peers: withDeclared(this.#groups.peersIn(groups, id), { name, groups, declared }), means });
  }
}
