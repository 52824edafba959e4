/**
 * Settings of the layer that every other one comes before, in agents that join the hooks of all layers: what is there on the machine
 * already, and our hooks after its own.
 */
import { existsSync } from "node:fs";
import { readJsonFile } from "@holdfast/platform";

type Json = Readonly<Record<string, unknown>>;

export interface LowestSettings {
  /** `hook` for all of `events`, and others for others. */
  withHooks(events: readonly string[], hook: Json, others?: Readonly<Record<string, Json>>): Json;
}

/** Undefined when there is something that cannot be read, with comments for example: it would be lost. */
export function readLowestSettings(path: string): LowestSettings | undefined {
  const there = existsSync(path) ? readJsonFile(path) : {};
  if (!isObject(there)) return undefined;
  const hooks = there.hooks ?? {};
  if (!isObject(hooks) || Object.values(hooks).some((list) => !Array.isArray(list))) return undefined;
  return {
    withHooks(events, hook, others = {}) {
      const own = (event: string) => (hooks[event] as unknown[] | undefined) ?? [];
      const all = [...events.map((event) => [event, hook] as const), ...Object.entries(others)];
      const added = Object.fromEntries(all.map(([event, hook]) => [event, [...own(event), { hooks: [hook] }]]));
      return { ...there, hooks: { ...hooks, ...added } };
    },
  };
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
