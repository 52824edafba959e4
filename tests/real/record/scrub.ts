/** Removes the traces of machine and time from a recording; text on a screen keeps its length. */

const MOMENT = "2026-01-01T00:00:00.000Z";
const ISO = /\d{4}-\d\d-\d\dT\d\d([-:])\d\d([-:]\d\d)?(\.\d+)?Z?/g;
/** A machine id as systemd writes it. */
const MACHINE = /(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/g;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** `places` are pairs of a text and its replacement; on a screen both must have the same length. */
export class Scrubber {
  readonly #places: readonly [from: string, to: string][];
  readonly #ids = new Map<string, string>();

  constructor(places: readonly [from: string, to: string][]) {
    this.#places = places;
  }

  value(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value === "number") return moment(value);
    if (Array.isArray(value)) return value.map((each) => this.value(each));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [this.text(key), this.value(each)]));
  }

  text(text: string): string {
    const placed = this.#places.reduce((scrubbed, [from, to]) => scrubbed.replaceAll(from, to), text);
    return placed
      .replace(UUID, (id) => this.#id(id))
      .replace(ISO, (_, separator) => (separator === ":" ? MOMENT : "2026-01-01T00-00"))
      .replace(/sessions\/\d{4}\/\d\d\/\d\d/g, "sessions/2026/01/01")
      .replace(/127\.0\.0\.1:\d+/g, (address) => address.replace(/\d(?=\d*$)/g, "4"))
      .replace(MACHINE, "0".repeat(32))
      .replace(/\b\d{1,2}:\d\d (AM|PM)/g, (time) => (time.length === 7 ? "9:41 AM" : "10:41 AM"))
      .replace(/\b\d{1,2}:\d\d[ap]m\b/g, (time) => (time.length === 6 ? "9:41am" : "10:41am"))
      .replace(/• \d\d:\d\d\b/g, "• 09:41");
  }

  #id(id: string): string {
    const known = this.#ids.get(id) ?? `00000000-0000-4000-8000-${String(this.#ids.size + 1).padStart(12, "0")}`;
    this.#ids.set(id, known);
    return known;
  }
}

/** Unix milliseconds of recent and coming years. */
function moment(value: number): number {
  return value > 1.7e12 && value < 2.5e12 ? Date.parse(MOMENT) : value;
}
