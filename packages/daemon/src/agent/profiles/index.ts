import { HoldfastError } from "@holdfast/contract";
import type { Profile } from "../profile.ts";
import { demo } from "./demo.ts";
import { shell } from "./shell.ts";

export const PROFILES: readonly Profile[] = [demo, shell];

export function profileOf(agent: string): Profile {
  const profile = PROFILES.find(({ name }) => name === agent);
  if (profile) return profile;
  throw new HoldfastError("agent_unknown", `there is no agent ${JSON.stringify(agent)}`, {
    hint: "to run any program: holdfast run -- COMMAND",
    candidates: PROFILES.map(({ name }) => name),
  });
}
