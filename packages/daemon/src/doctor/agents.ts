/** Checks the agents on the caller's PATH, and finds those newer than the versions that the status rules were made for. */
import type { AgentInfo } from "@holdfast/contract";
import type { Setup } from "../agent/profile.ts";
import type { Check } from "./check.ts";

export function agentVersions(agents: readonly AgentInfo[]): Check {
  const newer = agents.flatMap(({ name, newer: is }) => (is ? [{ name, ...is }] : []));
  if (newer.length === 0) return { id: "agents", level: "ok", what: "no installed agent is newer than its status rules", remedy: null };
  const named = newer.map(({ name, version, recorded }) => `${name} ${version} (rules: ${recorded})`).join(", ");
  const commands = newer.map(({ name, version }) => `npm run record:agents -- ${name} --version ${version}`);
  return {
    id: "agents",
    level: "warning",
    what: `status rules may be outdated, and the status wrong or unknown: ${named}`,
    remedy: `update holdfast; to record the agents again in a checkout of it: ${commands.join("; ")}`,
  };
}

/** An installed agent, and how to set it up. */
export type AgentState = AgentInfo & { setup: Setup | undefined };

/** What each agent lacks, according to its files: nothing is started except for its version, and nobody is logged in. */
export function agentStates(agents: readonly AgentState[], home: string): Check[] {
  const real = agents.filter(({ setup }) => setup !== undefined);
  const missing = real.filter(({ path }) => path === null);
  const found = real.filter(({ path }) => path !== null).map((agent) => stateOf(agent, home));
  if (missing.length === 0) return found;
  const what = `not installed: ${missing.map(({ name }) => name).join(", ")}`;
  const remedy = `install the ones you want: ${missing.map(({ setup }) => setup?.install).join("; ")}`;
  return [...found, { id: "agents-missing", level: "note", what, remedy }];
}

function stateOf({ name, path, version, asking, structured, setup }: AgentState, home: string): Check {
  const isLoggedIn = setup?.login?.isThere(home);
  const lacks = [
    ...(asking ? [{ what: `it did not answer when asked for its version`, remedy: `see why: ${path} --version` }] : []),
    ...(structured === null && setup?.adapter
      ? [{ what: "chat needs its ACP adapter, which is not installed", remedy: setup.adapter }]
      : []),
    ...(isLoggedIn === false && setup?.login
      ? [{ what: "its files show no login; an API key in the environment works too", remedy: `log in: ${setup.login.command}` }]
      : []),
  ];
  const is = `${name}${version === null ? "" : ` ${version}`} (${path})`;
  const good = [...(setup?.adapter && structured !== null ? ["ACP adapter installed"] : []), ...(isLoggedIn ? ["logged in"] : [])];
  const id = `agent-${name}`;
  if (lacks.length === 0) return { id, level: "ok", what: [is, ...good].join(", "), remedy: null };
  return {
    id,
    level: asking ? "warning" : "note",
    what: `${is}: ${lacks.map(({ what }) => what).join("; ")}`,
    remedy: lacks.map(({ remedy }) => remedy).join("; "),
  };
}
