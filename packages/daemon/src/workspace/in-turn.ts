/** Serializes operations on one key, such as merges, removals and recoveries in one repository. */
export class InTurn {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(key: string, act: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const mine = Promise.resolve(before?.catch(() => {})).then(act);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
