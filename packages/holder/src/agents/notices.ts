/** What people are told beside the answer. `about` is a transcript's word for it. */
import type { Kept } from "./context/kept.ts";

export interface Notice {
  about: "left_out" | "context" | "cleared" | "retried" | "tools" | "answer";
  severity: "info" | "warning";
  title: string;
  description?: string;
}

export function leftOut({ leftOut: gap }: Kept, total: number): Notice | undefined {
  if (gap === null) return undefined;
  const { from, to, forRoom } = gap;
  const turns = from === to ? `turn ${from} of ${total} is` : `turns ${from} to ${to} of ${total} are`;
  return {
    about: "left_out",
    severity: "info",
    title: `${turns} left out of what the agent is given${forRoom ? ", for want of room" : ""}`,
    description: "The transcript has everything. How much is kept: context in config.toml; /clear begins anew.",
  };
}

export function nearlyFull(used: number, size: number): Notice {
  const percent = Math.round((used / size) * 100);
  return {
    about: "context",
    severity: "warning",
    title: `the context is ${percent} % full: about ${used.toLocaleString("en")} of ${size.toLocaleString("en")} tokens`,
    description: "When it is full the oldest turns are left out. /clear begins anew; tokens in config.toml is the limit.",
  };
}

export const CLEARED: Notice = {
  about: "cleared",
  severity: "info",
  title: "the agent begins with an empty memory",
  description: "The transcript stays as it is.",
};

/** Servers of the Model Context Protocol that a command does not ask for. */
export function notGiven(servers: readonly string[]): Notice {
  return {
    about: "tools",
    severity: "warning",
    title: `the command is given no MCP servers: it goes without ${servers.join(", ")}`,
    description: "Where it takes a file that names them, put {mcp} in its place among the words of the command in config.toml.",
  };
}
