/**
 * The shared values of a group. Reading, comparing and writing a value are one step of the daemon: of several concurrent writers with the same
 * revision one succeeds, and the others get the current value.
 */
import {
  checkKey,
  HoldfastError,
  inexactNumber,
  LONGEST_VALUE,
  MOST_KEYS,
  type Principal,
  type SharedKey,
  type SharedValue,
  type ValueChange,
} from "@holdfast/contract";
import type { Journal } from "../journal/journal.ts";
import type { GroupQueries, ValueRecord } from "../projection/group-queries.ts";

export class SharedValues {
  readonly #journal: Journal;
  readonly #queries: GroupQueries;
  readonly #nameOf: (principal: Principal) => string;

  /** `nameOf`: a principal's name for people. */
  constructor(options: { journal: Journal; queries: GroupQueries; nameOf(principal: Principal): string }) {
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#nameOf = options.nameOf;
  }

  list(group: string): { revision: number; values: SharedKey[] } {
    const path = this.#queries.resolve(group);
    const seen = new Set<string>();
    const values = this.#queries.keys(path).map((entry) => {
      const hidden = seen.has(entry.key);
      seen.add(entry.key);
      return { ...entry, hidden };
    });
    return { revision: this.#queries.revision(path), values };
  }

  get(group: string, key: string): SharedValue {
    const path = this.#queries.resolve(group);
    const found = this.#queries.visible(path, checkKey(key));
    if (found) return view(found);
    throw this.#missing(path, key);
  }

  share(
    group: string,
    key: string,
    { value, ifRevision, actor }: { value: unknown; ifRevision?: number | undefined; actor: Principal },
  ): SharedValue {
    const path = this.#queries.resolve(group);
    const name = checkKey(key);
    checkSize(value);
    const own = this.#own(path, name);
    this.#checkFresh(path, name, { own, ifRevision });
    if (!own && this.#queries.keyCount(path) >= MOST_KEYS) {
      throw new HoldfastError("too_many_keys", `the group ${path} has ${MOST_KEYS} values, which is the limit`, {
        hint: `remove a value: holdfast group unset ${path} KEY; or combine several into one value`,
      });
    }
    const revision = this.#queries.revision(path) + 1;
    this.#journal.append({ type: "group.value_shared", actor, session: null, data: { group: path, key: name, value, revision } });
    return this.get(path, name);
  }

  unset(group: string, key: string, { ifRevision, actor }: { ifRevision?: number | undefined; actor: Principal }): SharedValue {
    const path = this.#queries.resolve(group);
    const name = checkKey(key);
    const own = this.#own(path, name);
    this.#checkFresh(path, name, { own, ifRevision });
    if (!own) throw this.#missing(path, name);
    const revision = this.#queries.revision(path) + 1;
    this.#journal.append({ type: "group.value_unset", actor, session: null, data: { group: path, key: name, revision } });
    return { ...view(own), revision };
  }

  /** Returns the changes after a revision at once if there are any; otherwise waits for a change or the signal. */
  async watch(
    group: string,
    { after, signal }: { after?: number | undefined; signal: AbortSignal },
  ): Promise<{ revision: number; changes: ValueChange[] }> {
    const path = this.#queries.resolve(group);
    const now = this.#queries.revision(path);
    if (after !== undefined && after > now) {
      throw new HoldfastError("cursor_gone", `${path} is at revision ${now}; revision ${after} does not exist yet`, {
        hint: `list its values: holdfast group keys ${path}`,
      });
    }
    for (let known = after ?? now; ; ) {
      const { seq } = this.#journal.cursor;
      const revision = this.#queries.revision(path);
      const changes = revision > known ? this.#queries.changesAfter(path, known) : [];
      if (changes.length > 0 || signal.aborted) return { revision, changes: changes.map(change) };
      // The change was in another group of the same tree.
      known = revision;
      await this.#journal.changed(seq, signal);
      // The group may have been removed.
      this.#queries.resolve(path);
    }
  }

  #own(path: string, key: string): ValueRecord | undefined {
    const own = this.#queries.value(path, key);
    return own && own.value !== null ? own : undefined;
  }

  #checkFresh(path: string, key: string, { own, ifRevision }: { own: ValueRecord | undefined; ifRevision: number | undefined }): void {
    if (ifRevision === undefined || ifRevision === (own?.revision ?? 0)) return;
    const above = own ? undefined : this.#queries.visible(path, key);
    const now = own
      ? `is at revision ${own.revision}, not ${ifRevision}: ${this.#nameOf(own.author)} changed it`
      : `does not exist, so its revision is 0, not ${ifRevision}${above ? `; the value of ${above.group} is another one` : ""}`;
    throw new HoldfastError("stale_value", `the value ${key} of ${path} ${now}`, {
      hint: `read it again and change the current value: holdfast group get ${path} ${key}`,
      details: { current: own ? view(own) : null },
    });
  }

  #missing(path: string, key: string): HoldfastError {
    const above = this.#queries.visible(path, key);
    if (above)
      return new HoldfastError(
        "value_not_found",
        `${path} has no value ${JSON.stringify(key)} of its own: it reads the value of ${above.group}`,
        {
          hint: `remove that one: holdfast group unset ${above.group} ${key}`,
        },
      );
    const keys = [...new Set(this.#queries.keys(path).map((entry) => entry.key))];
    const alike = keys.filter((each) => each.toLowerCase().includes(key.toLowerCase()));
    return new HoldfastError("value_not_found", `${path} has no value ${JSON.stringify(key)}`, {
      hint:
        keys.length === 0
          ? `the group has no values yet; set one: holdfast group share ${path} ${key} JSON`
          : `list its values: holdfast group keys ${path}`,
      candidates: (alike.length > 0 ? alike : keys).slice(0, 10),
    });
  }
}

function view({ group, key, value, ...record }: ValueRecord): SharedValue {
  return { group, key, value: JSON.parse(value ?? "null") as unknown, ...record };
}

function change(record: ValueRecord): ValueChange {
  return { ...view(record), unset: record.value === null };
}

/** SQLite reads JSON up to a thousand levels deep, including those around the value. */
const DEEPEST_VALUE = 500;

function checkSize(value: unknown): void {
  const text = jsonOf(value);
  if (text === undefined) throw new HoldfastError("usage", "the value is missing", { hint: "pass any JSON, also null" });
  const odd = inexactNumber(value);
  if (odd !== undefined)
    throw new HoldfastError("usage", `the number ${odd} has more digits than JSON can keep`, {
      hint: "share it as text, in quotes",
    });
  const bytes = Buffer.byteLength(text);
  if (bytes <= LONGEST_VALUE && isShallow(value)) return;
  if (bytes <= LONGEST_VALUE)
    throw new HoldfastError("value_too_large", `a shared value nests at most ${DEEPEST_VALUE} deep`, {
      hint: "share it as text, or put it into a file and share the path",
    });
  throw new HoldfastError(
    "value_too_large",
    `a shared value has at most ${LONGEST_VALUE.toLocaleString("en")} bytes as JSON, this one has ${bytes.toLocaleString("en")}`,
    {
      hint: "put it into a file and share the path",
    },
  );
}

function isShallow(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth <= DEEPEST_VALUE; depth++) {
    level = level.flatMap((each): unknown[] => (typeof each === "object" && each !== null ? Object.values(each) : []));
    if (level.length === 0) return true;
  }
  return false;
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new HoldfastError("usage", "the value is nested too deeply", { hint: "put it into a file and share the path", cause });
  }
}
