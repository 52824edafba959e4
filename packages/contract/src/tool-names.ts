/**
 * How tools are named where somebody chooses among them, in settings of an agent and in personas: by their names, with `*` for anything; those of a server of
 * the Model Context Protocol as `mcp__SERVER__TOOL`, all of them as `mcp__SERVER`. What does not begin so means none of theirs, but for a `*` alone.
 */

const FOREIGN = "mcp__";
const ALL = "*";

/** As models take it. */
export function toolWord(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_");
}

/** What the names of a server's tools begin with. */
export function serverPrefix(server: string): string {
  return `${FOREIGN}${toolWord(server)}__`;
}

/** Whether the tool is meant by the name. */
export function isNamed(tool: string, name: string): boolean {
  const words = wordsOf(name);
  if (tool.startsWith(FOREIGN) && words !== ALL && !words.startsWith(FOREIGN)) return false;
  const isWholeServer = words.startsWith(FOREIGN) && tool.startsWith(`${words}__`);
  return isWholeServer || new RegExp(`^${words.replaceAll("*", ".*")}$`).test(tool);
}

/** Whether any tool of that server may be meant; null: all are. */
export function meansServer(names: readonly string[] | null, server: string): boolean {
  const prefix = serverPrefix(server);
  if (names === null) return true;
  return names.map(wordsOf).some((words) => {
    const [fixed = "", ...rest] = words.split("*");
    const mayBegin = fixed.startsWith(prefix) || (rest.length > 0 && fixed.startsWith(FOREIGN) && prefix.startsWith(fixed));
    return words === ALL || mayBegin || `${words}__` === prefix;
  });
}

/** `*` is no part of a name, but in what other agents write behind one, such as `Bash(git log:*)`. */
function wordsOf(name: string): string {
  return name.includes("(") ? toolWord(name) : name.replace(/[^a-zA-Z0-9_*-]/g, "_");
}
