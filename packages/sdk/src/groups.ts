/** Sessions that coordinate: members, a coordinator, and values that all of them share. A group is named by its path: `team/research` is in `team`. */
import type { Group, GroupStats, Peer, SharedKey, SharedValue, ValueChange } from "@holdfast/contract/group";
import type { GroupMessage } from "@holdfast/contract/message";
import type { HoldfastClient } from "./client.ts";
import { type HoldfastError, throwIfAborted } from "./errors.ts";
import { isCode, surely } from "./follow.ts";
import { newMessageId } from "./message-id.ts";
import type { SendOptions } from "./messages.ts";

/** One question waits no longer than this; then it is asked again. */
const WAIT_MS = 20_000;

export interface ShareOptions {
  /** Only while it is still the revision that was read; 0: only where there is none. Else `stale_value`, and `details.current` is what it is. */
  ifRevision?: number;
}

export interface GroupSendOptions extends Pick<SendOptions, "steer" | "id" | "replyTo" | "expiresMs" | "signal"> {
  /** All members (`member`, the default), or the one that coordinates. */
  to?: "member" | "coordinator";
}

/** Sessions that coordinate: members, a coordinator, and values that all of them share. */
export class Groups {
  readonly #client: HoldfastClient;

  /** `holdfast.groups` is one. */
  constructor(client: HoldfastClient) {
    this.#client = client;
  }

  async list(signal?: AbortSignal): Promise<Group[]> {
    return (await this.#client.call("listGroups", {}, signal)).groups;
  }

  /** Makes a group, and those it is in. `join` makes one, too. */
  create(path: string, options: { limit?: number; goal?: string } = {}): Promise<Group> {
    return this.#client.call("createGroup", { body: { path, ...options } });
  }

  /** The goal of the group, which members are told. Null removes it. */
  setGoal(group: string, goal: string | null): Promise<Group> {
    return this.#client.call("changeGroup", { params: { group }, body: { goal } });
  }

  get(group: string, signal?: AbortSignal): Promise<Group> {
    return this.#client.call("getGroup", { params: { group } }, signal);
  }

  /** With its values. Where members are alive, or groups are in it, only with `force`. */
  async remove(group: string, options: { force?: boolean } = {}): Promise<void> {
    await this.#client.call("removeGroup", { params: { group }, query: options });
  }

  /** Takes sessions in, all or none. */
  join(group: string, ...sessions: string[]): Promise<Group> {
    return this.#client.call("joinGroup", { params: { group }, body: { sessions } });
  }

  leave(group: string, session: string): Promise<Group> {
    return this.#client.call("leaveGroup", { params: { group, ref: session } });
  }

  /** The others in a session's groups. */
  async peers(session: string, signal?: AbortSignal): Promise<Peer[]> {
    return (await this.#client.call("listPeers", { params: { ref: session } }, signal)).peers;
  }

  /** Makes a member the coordinator. */
  setCoordinator(group: string, session: string): Promise<Group> {
    return this.#client.call("setCoordinator", { params: { group }, body: { session } });
  }

  /** Totals of all members: sessions by status, turns, tokens, cost, messages. */
  stats(group: string, signal?: AbortSignal): Promise<GroupStats> {
    return this.#client.call("groupStats", { params: { group } }, signal);
  }

  /** The keys of its values, and of those above it. */
  async keys(group: string, signal?: AbortSignal): Promise<SharedKey[]> {
    return (await this.#client.call("listValues", { params: { group } }, signal)).values;
  }

  /** A value: the group's own, or that of the nearest above it; undefined where there is none. */
  async value(group: string, key: string, signal?: AbortSignal): Promise<SharedValue | undefined> {
    try {
      return await this.#client.call("getValue", { params: { group, key } }, signal);
    } catch (error) {
      if (isCode(error, "value_not_found")) return undefined;
      throw error;
    }
  }

  /** Sets a value: any JSON. */
  share(group: string, key: string, value: unknown, options: ShareOptions = {}): Promise<SharedValue> {
    return this.#client.call("shareValue", { params: { group, key }, body: { value, ...options } });
  }

  /** Changes a value, however many do so at once: what another has written meanwhile is read, and the change made to that. */
  async update(group: string, key: string, change: (value: unknown) => unknown): Promise<SharedValue> {
    let current: SharedValue | null | undefined = await this.value(group, key);
    for (;;) {
      // One of a group above is not changed: the group gets a value of its own.
      const ifRevision = current?.group === group ? current.revision : 0;
      try {
        return await this.share(group, key, change(current?.value), { ifRevision });
      } catch (error) {
        if (!isCode(error, "stale_value")) throw error;
        current = ((error as HoldfastError).details?.current as SharedValue | null | undefined) ?? (await this.value(group, key));
      }
    }
  }

  /** Takes a value away. */
  async unset(group: string, key: string, options: ShareOptions = {}): Promise<void> {
    await this.#client.call("unsetValue", { params: { group, key }, query: options });
  }

  /** Changes as they are made, of the group's values and of those above it: of each key the newest. From a revision on, or from now. */
  async *watch(group: string, options: { after?: number; signal?: AbortSignal } = {}): AsyncGenerator<ValueChange> {
    const { signal } = options;
    for (let after = options.after; ; ) {
      const query = { after, waitMs: after === undefined ? 0 : WAIT_MS };
      const { revision, changes } = await surely(() => this.#client.call("watchValues", { params: { group }, query }, signal), signal);
      after = revision;
      yield* changes;
      throwIfAborted(signal);
    }
  }

  /** Says something to all members but the sender, each by a copy with receipts of its own; with `to: "coordinator"`, to that one alone. */
  send(group: string, text: string, options: GroupSendOptions = {}): Promise<GroupMessage> {
    const { signal, id = newMessageId(), to: role = "member", ...more } = options;
    return surely(() => this.#client.call("sendToGroup", { params: { group }, body: { text, id, role, ...more } }, signal), signal);
  }

  /** The newest hundred messages to the group, oldest first, with the state of each copy. */
  async log(group: string, options: { limit?: number; signal?: AbortSignal } = {}): Promise<GroupMessage[]> {
    const { signal, ...query } = options;
    return (await this.#client.call("groupLog", { params: { group }, query }, signal)).messages;
  }
}
