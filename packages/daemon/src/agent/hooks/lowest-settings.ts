/**
 * Settings of the layer with the lowest precedence, for agents that merge the hooks of all layers: the machine's existing settings, with Holdfast's
 * hooks after its own.
 */
import { existsSync } from "node:fs";
import { readJsonFile } from "@holdfast/platform";

type Json = Readonly<Record<string, unknown>>;

export interface LowestSettings {
  /** Adds `hook` to all of `events`, and other hooks to other events. */
  withHooks(events: readonly string[], hook: Json, others?: Readonly<Record<string, Json>>): Json;
}

/** Undefined if the existing file cannot be parsed, for example because of comments: its content would be lost. */
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
