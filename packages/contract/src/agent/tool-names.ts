/**
 * Names of tools in agent settings and personas: a tool's name, with `*` for any text. Tools of an MCP server are `mcp__SERVER__TOOL`, or
 * `mcp__SERVER` for all of them. Names without that prefix match no tool of a server, except `*` alone.
 */

const FOREIGN = "mcp__";
const ALL = "*";

/** A name with only the characters that models accept. */
export function toolWord(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_");
}

/** Prefix of the names of a server's tools. */
export function serverPrefix(server: string): string {
  return `${FOREIGN}${toolWord(server)}__`;
}

/** True if the name matches the tool. */
export function isNamed(tool: string, name: string): boolean {
  const words = wordsOf(name);
  if (tool.startsWith(FOREIGN) && words !== ALL && !words.startsWith(FOREIGN)) return false;
  const isWholeServer = words.startsWith(FOREIGN) && tool.startsWith(`${words}__`);
  return isWholeServer || new RegExp(`^${words.replaceAll("*", ".*")}$`).test(tool);
}

/** True if the names may match a tool of the server; null matches all. */
export function meansServer(names: readonly string[] | null, server: string): boolean {
  const prefix = serverPrefix(server);
  if (names === null) return true;
  return names.map(wordsOf).some((words) => {
    const [fixed = "", ...rest] = words.split("*");
    const mayBegin = fixed.startsWith(prefix) || (rest.length > 0 && fixed.startsWith(FOREIGN) && prefix.startsWith(fixed));
    return words === ALL || mayBegin || `${words}__` === prefix;
  });
}

/** `*` is a wildcard, except in the arguments that other agents append, such as `Bash(git log:*)`. */
function wordsOf(name: string): string {
  return name.includes("(") ? toolWord(name) : name.replace(/[^a-zA-Z0-9_*-]/g, "_");
}
