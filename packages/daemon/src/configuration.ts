import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract";
import { isMissing } from "@holdfast/platform";
import { parse } from "smol-toml";

export interface Configuration {
  /** In tmux's notation: `C-\`, `F12`, `M-d`. */
  detachKey: string;
}

const DEFAULTS: Configuration = { detachKey: "C-\\" };

/** A key with a modifier, or a function key: a plain letter would be taken from the agent. */
const KEY = /^(?:[CM]-[!-&(-~]|F(?:[1-9]|1[0-2]))$/;

export function readConfiguration(env: Readonly<Record<string, string | undefined>> = process.env): Configuration {
  const path = join(env.XDG_CONFIG_HOME || join(env.HOME ?? "/", ".config"), "holdfast", "config.toml");
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return DEFAULTS;
    throw error;
  }
  return { ...DEFAULTS, ...detachKeyOf(path, parseToml(path, text)) };
}

function parseToml(path: string, text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    throw new HoldfastError("usage", `${path} is not valid TOML: ${(cause as Error).message}`, { cause });
  }
}

function detachKeyOf(path: string, table: Record<string, unknown>): Partial<Configuration> {
  const key = table.detach_key;
  if (key === undefined) return {};
  if (typeof key === "string" && KEY.test(key)) return { detachKey: key };
  throw new HoldfastError("usage", `${path}: detach_key ${JSON.stringify(key)} is not a key`, {
    hint: 'for example: detach_key = "C-\\\\" or "F12"',
  });
}
