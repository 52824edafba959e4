/** Sessions are known by their ids where they speak; people know them by their names. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Entry } from "@holdfast/contract/transcript";
import type { HoldfastClient } from "@holdfast/sdk/client";

export class SessionNames {
  readonly #client: HoldfastClient;
  /** By principal; null: it is gone, or nobody may know of it. */
  readonly #names = new Map<string, string | null>();

  constructor(client: HoldfastClient) {
    this.#client = client;
  }

  /** Of a session that an entry has made known. */
  of(principal: string): string | undefined {
    return this.#names.get(principal) ?? undefined;
  }

  /** Whether the entry tells of nobody who has to be asked for first. */
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
