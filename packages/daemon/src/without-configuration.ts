/**
 * A daemon for one command when config.toml is invalid: running sessions must still be found and stopped. It knows no agents and no rules, starts
 * nothing, sends nothing to agents and deletes nothing; hook signals wait for the next daemon. It ends with the command that started it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ENDPOINTS, type EndpointName, HoldfastError, isAnsweredWithout } from "@holdfast/contract";
import type { Home } from "@holdfast/platform";
import type { Handlers } from "./api/bind.ts";
import { type Configuration, defaultConfiguration } from "./configuration.ts";

/** Refuses all other endpoints with the configuration's error; once that is corrected, reports that another daemon follows. */
export function servedWithout(
  handlers: Handlers,
  { trouble, isMended, end }: { trouble: HoldfastError; isMended(): boolean; end(): void },
): Handlers {
  const refuse = (): never => {
    if (!isMended()) throw trouble;
    end();
    throw new HoldfastError("daemon_outdated", "the configuration was corrected: a new daemon starts", { hint: "try again" });
  };
  const names = Object.keys(ENDPOINTS) as EndpointName[];
  return Object.fromEntries(
    names.map((name) => [name, isAnsweredWithout("configuration", name) ? handlers[name] : refuse]),
  ) as unknown as Handlers;
}

/** The defaults, except that nothing is deleted and keys stay as the last daemon set them. */
export function withoutConfiguration(home: Home): Configuration {
  const otherwise = defaultConfiguration();
  const [detachKey = otherwise.detachKey, nextKey = otherwise.nextKey] = keysInForce(home);
  return { ...otherwise, detachKey, nextKey, recordingLimit: 0, prune: { ...otherwise.prune, ageMs: null, bytes: null } };
}

function keysInForce(home: Home): (string | undefined)[] {
  try {
    const text = readFileSync(join(home.path, "tmux.conf"), "utf8");
    return ["detach", "next"].map((key) => new RegExp(`^set -g @holdfast_${key} '(.+)'$`, "m").exec(text)?.[1]);
  } catch {
    return [];
  }
}
