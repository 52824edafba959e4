/** Recognizes the agent behind a process that was started outside Holdfast, by its command line. */
import { basename } from "node:path";
import type { Profile } from "./profile.ts";

/** Programs that run another one, named by their first word that is not a flag. */
const INTERPRETERS = /^(node|nodejs|bun|deno|python[\d.]*|ruby|perl|sh|bash|dash|zsh)$/;

/** Ignores the demo and shells, which nobody wants to adopt, and profiles whose program is an interpreter. */
export function recognize(words: readonly string[], profiles: readonly Profile[]): Profile | undefined {
  const names = programNames(words);
  return profiles.find(({ command, kind }) => {
    const own = kind === "terminal" && typeof command !== "function" ? basename(command[0] ?? "") : "";
    return own !== "" && !INTERPRETERS.test(own) && names.includes(own);
  });
}

/** The agent's own arguments, without its program and interpreter. */
export function ownArguments([program = "", ...args]: readonly string[]): readonly string[] {
  return INTERPRETERS.test(basename(program)) ? args.slice(args.findIndex((word) => !word.startsWith("-")) + 1) : args;
}

/** The program's name or, for an interpreter, its script's name without the ending. */
function programNames([program = "", ...args]: readonly string[]): string[] {
  // The name of a login shell begins with a dash; some programs write blanks after their name.
  const name = basename(program.replace(/^-/, "").split(" ")[0] ?? "");
  if (!INTERPRETERS.test(name)) return [name];
  const at = args.findIndex((word) => word !== "" && !word.startsWith("-"));
  const script = args[at];
  // With -c or -e it runs a text; an agent in that text is a process of its own.
  const isText = args.slice(0, at).some((word) => /^-[a-z]*[ce]$/.test(word));
  return script === undefined || isText ? [] : [basename(script).replace(/\.(?:[cm]?js|py|sh|pl|rb)$/, "")];
}

/** The conversation's id on an agent's command line, if there is one. */
export function conversationIn(words: readonly string[], profile: Profile): string | null {
  const { begin, resume } = profile.conversation ?? {};
  for (const [flag, value] of [begin, resume].map((template) => template ?? [])) {
    if (flag === undefined || value !== "{id}") continue;
    const at = words.indexOf(flag, 1);
    const found = at > 0 ? words[at + 1] : words.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
    if (found !== undefined && ID.test(found)) return found;
  }
  return null;
}

/** Long enough not to be some other name. */
const ID = /^\w[\w.-]{7,199}$/;
