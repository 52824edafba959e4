/** Notices that people see besides the answer. `about` is the transcript's word for the subject. */
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
    title: `${turns} omitted from the agent's context${forRoom ? " to save space" : ""}`,
    description: "The transcript has everything. context in config.toml sets the limit; /clear starts a new context.",
  };
}

export function nearlyFull(used: number, size: number): Notice {
  const percent = Math.round((used / size) * 100);
  return {
    about: "context",
    severity: "warning",
    title: `the context is ${percent} % full: about ${used.toLocaleString("en")} of ${size.toLocaleString("en")} tokens`,
    description: "When it is full the oldest turns are omitted. /clear starts a new context; tokens in config.toml is the limit.",
  };
}

export const CLEARED: Notice = {
  about: "cleared",
  severity: "info",
  title: "the agent's memory is cleared",
  description: "The transcript does not change.",
};

/** MCP servers for which the command has no placeholder. */
export function notGiven(servers: readonly string[]): Notice {
  return {
    about: "tools",
    severity: "warning",
    title: `the command takes no MCP servers: ${servers.join(", ")} will be missing`,
    description: "If the command takes a file that names them, add {mcp} to its command in config.toml.",
  };
}
