/** asciinema-player, the reference player, without its web page: its own parser and player. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

export interface Shown {
  cols: number;
  rows: number;
  /** The output and the size changes, in order. */
  events: (string | { cols: number; rows: number })[];
  markers: { time: number; label: string }[];
  /** In seconds. */
  duration: number;
}

interface Core {
  terminalReady(): void;
  init(): Promise<void>;
  getDuration(): number;
  addEventListener(name: string, handler: (data: never) => void): void;
}

type CoreClass = new (source: { data: string }, options: object) => Core;

/** Plays a whole recording at full speed. */
export async function playCast(cast: string): Promise<Shown> {
  const Player = await loadCore();
  const logger = { debug() {}, info() {}, warn() {}, error: console.error };
  const core = new Player({ data: cast }, { logger, speed: 1e6, autoPlay: true, preload: true });
  const shown: Shown = { cols: 0, rows: 0, events: [], markers: [], duration: 0 };
  const ended = new Promise<void>((resolve, reject) => {
    core.addEventListener("ended", () => resolve());
    core.addEventListener("error", (error) => reject(new Error(`the player refuses it: ${JSON.stringify(error)}`)));
  });
  core.addEventListener("output", (data: string | string[]) => void shown.events.push([data].flat().join("")));
  core.addEventListener("resize", (size: { cols: number; rows: number }) => void shown.events.push(size));
  core.addEventListener("reset", ({ size }: { size: { cols: number; rows: number } }) => Object.assign(shown, size));
  core.addEventListener("marker", ({ time, label }: { time: number; label: string }) => void shown.markers.push({ time, label }));
  core.terminalReady();
  await core.init();
  await ended;
  return { ...shown, duration: core.getDuration() };
}

/** The package exports only the player with its page; the core without the page is one of its internal modules. */
async function loadCore(): Promise<CoreClass> {
  const index = createRequire(import.meta.url).resolve("asciinema-player");
  const [, file = ""] = /import \{ C as Core \} from '(\.\/core-[^']+)'/.exec(readFileSync(index, "utf8")) ?? [];
  const { C } = (await import(pathToFileURL(path.join(path.dirname(index), file)).href)) as { C: CoreClass };
  return C;
}
