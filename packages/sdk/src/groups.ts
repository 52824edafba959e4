/** Groups: sessions that coordinate. Groups are named by a path: `team/research` is a group in `team`. */
import type { Group, GroupStats, Peer, SharedKey, SharedValue, ValueChange } from "@holdfast/contract/group/group";
import type { GroupMessage } from "@holdfast/contract/message/message";
import type { HoldfastClient } from "./client.ts";
import { type HoldfastError, throwIfAborted } from "./errors.ts";
import { isCode, surely } from "./follow.ts";
import { newMessageId } from "./message-id.ts";
import type { SendOptions } from "./messages.ts";

/** Longest wait of a single request; the client then repeats it. */
const WAIT_MS = 20_000;

export interface ShareOptions {
  /**
   * Write only if the value still has this revision; 0: only if there is no value. Otherwise the call fails with `stale_value`, and `details.current`
   * is the current value.
   */
  ifRevision?: number;
}

export interface GroupSendOptions extends Pick<SendOptions, "steer" | "id" | "replyTo" | "expiresMs" | "signal"> {
  /** Send to all members (`member`, the default) or only to the coordinator. */
  to?: "member" | "coordinator";
}

/** Groups: sessions that coordinate, with members, a coordinator and shared values. */
export class Groups {
  readonly #client: HoldfastClient;

  /** Programs use `holdfast.groups` instead. */
  constructor(client: HoldfastClient) {
    this.#client = client;
  }

  async list(signal?: AbortSignal): Promise<Group[]> {
    return (await this.#client.call("listGroups", {}, signal)).groups;
  }

  /** Creates a group and the groups above it. `join` also creates them. */
  create(path: string, options: { limit?: number; goal?: string } = {}): Promise<Group> {
    return this.#client.call("createGroup", { body: { path, ...options } });
  }

  /** Sets the group's goal, which its members are told. Null removes it. */
  setGoal(group: string, goal: string | null): Promise<Group> {
    return this.#client.call("changeGroup", { params: { group }, body: { goal } });
  }

  get(group: string, signal?: AbortSignal): Promise<Group> {
    return this.#client.call("getGroup", { params: { group } }, signal);
  }

  /** Removes a group and its values. `force` is needed if it has live members or groups below it. */
  async remove(group: string, options: { force?: boolean } = {}): Promise<void> {
    await this.#client.call("removeGroup", { params: { group }, query: options });
  }

  /** Adds sessions to a group: all of them or none. */
  join(group: string, ...sessions: string[]): Promise<Group> {
    return this.#client.call("joinGroup", { params: { group }, body: { sessions } });
  }

  leave(group: string, session: string): Promise<Group> {
    return this.#client.call("leaveGroup", { params: { group, ref: session } });
  }

  /** The other sessions in a session's groups. */
  async peers(session: string, signal?: AbortSignal): Promise<Peer[]> {
    return (await this.#client.call("listPeers", { params: { ref: session } }, signal)).peers;
  }

  /** Makes a member the coordinator. */
  setCoordinator(group: string, session: string): Promise<Group> {
    return this.#client.call("setCoordinator", { params: { group }, body: { session } });
  }

  /** Totals over all members: sessions by status, turns, tokens, cost, messages. */
  stats(group: string, signal?: AbortSignal): Promise<GroupStats> {
    return this.#client.call("groupStats", { params: { group } }, signal);
  }

  /** Keys of the group's values, including those of groups above it. */
  async keys(group: string, signal?: AbortSignal): Promise<SharedKey[]> {
    return (await this.#client.call("listValues", { params: { group } }, signal)).values;
  }

  /** A shared value: the group's own, else that of the nearest group above it. Undefined if there is none. */
  async value(group: string, key: string, signal?: AbortSignal): Promise<SharedValue | undefined> {
    try {
      return await this.#client.call("getValue", { params: { group, key } }, signal);
    } catch (error) {
      if (isCode(error, "value_not_found")) return undefined;
      throw error;
    }
  }

  /** Sets a shared value to any JSON. */
  share(group: string, key: string, value: unknown, options: ShareOptions = {}): Promise<SharedValue> {
    return this.#client.call("shareValue", { params: { group, key }, body: { value, ...options } });
  }

  /** Changes a value safely while others write it: after a concurrent write, `change` runs again on the new value. */
  async update(group: string, key: string, change: (value: unknown) => unknown): Promise<SharedValue> {
    let current: SharedValue | null | undefined = await this.value(group, key);
    for (;;) {
      // A value of a group above is not changed; the group gets its own value.
      const ifRevision = current?.group === group ? current.revision : 0;
      try {
        return await this.share(group, key, change(current?.value), { ifRevision });
      } catch (error) {
        if (!isCode(error, "stale_value")) throw error;
        current = ((error as HoldfastError).details?.current as SharedValue | null | undefined) ?? (await this.value(group, key));
      }
    }
  }

  /** Removes a shared value. */
  async unset(group: string, key: string, options: ShareOptions = {}): Promise<void> {
    await this.#client.call("unsetValue", { params: { group, key }, query: options });
  }

  /** Yields changes to the group's values and to those of groups above it; for each key only the newest. Starts after the given revision, or now. */
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

  /**
   * Sends a message to all members except the sender, as one copy with receipts per member. With `to: "coordinator"` only the coordinator gets it.
   */
  send(group: string, text: string, options: GroupSendOptions = {}): Promise<GroupMessage> {
    const { signal, id = newMessageId(), to: role = "member", ...more } = options;
    return surely(() => this.#client.call("sendToGroup", { params: { group }, body: { text, id, role, ...more } }, signal), signal);
  }

  /** The newest messages to the group (100 by default), oldest first, with the state of each copy. */
  async log(group: string, options: { limit?: number; signal?: AbortSignal } = {}): Promise<GroupMessage[]> {
    const { signal, ...query } = options;
    return (await this.#client.call("groupLog", { params: { group }, query }, signal)).messages;
  }
}
