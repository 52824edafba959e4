/** Agents on the caller's PATH that are newer than those by which the rules for their status were made. */
import type { AgentInfo } from "@holdfast/contract";
import type { Check } from "./doctor.ts";

export function agentVersions(agents: readonly AgentInfo[]): Check {
  const newer = agents.flatMap(({ name, newer: is }) => (is ? [{ name, ...is }] : []));
  if (newer.length === 0) return { id: "agents", level: "ok", what: "no agent is newer than the rules for its status", remedy: null };
  const named = newer.map(({ name, version, recorded }) => `${name} ${version} (rules: ${recorded})`).join(", ");
  const commands = newer.map(({ name, version }) => `npm run record:agents -- ${name} --version ${version}`);
  return {
    id: "agents",
    level: "warning",
    what: `rules may be stale, and status wrong or unknown: ${named}`,
    remedy: `update holdfast; to record anew in a checkout of it: ${commands.join("; ")}`,
  };
}
