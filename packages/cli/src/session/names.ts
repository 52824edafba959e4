/** Names of sessions that appear in a transcript by their ids. */

import type { Entry } from "@holdfast/contract/conversation/transcript";
import { HoldfastError } from "@holdfast/contract/errors";
import type { HoldfastClient } from "@holdfast/sdk/client";

export class SessionNames {
  readonly #client: HoldfastClient;
  /** By principal; null if it was removed or is not visible. */
  readonly #names = new Map<string, string | null>();

  constructor(client: HoldfastClient) {
    this.#client = client;
  }

  /** The name of a session that an entry mentioned. */
  of(principal: string): string | undefined {
    return this.#names.get(principal) ?? undefined;
  }

  /** True if the entry's sender needs no lookup. */
  knows(entry: Entry): boolean {
    const who = speakerOf(entry);
    return who === undefined || this.#names.has(who);
  }

  async learn(entry: Entry): Promise<void> {
    const who = speakerOf(entry);
    if (who === undefined || this.#names.has(who)) return;
    this.#names.set(who, null);
    try {
      const { name } = await this.#client.call("getSession", { params: { ref: who.slice(PREFIX.length) } });
      this.#names.set(who, name);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
    }
  }
}

const PREFIX = "session:";

function speakerOf(entry: Entry): string | undefined {
  const who = entry.type === "user" ? entry.from : entry.type === "approval_answered" ? entry.by : null;
  return who?.startsWith(PREFIX) ? who : undefined;
}
