/** Which agent a program is that somebody started themselves, by the words it was started with. */
import { basename } from "node:path";
import type { Profile } from "./profile.ts";

/** Programs that run another, which is their first word that is no flag. */
const INTERPRETERS = /^(node|nodejs|bun|deno|python[\d.]*|ruby|perl|sh|bash|dash|zsh)$/;

/** The demo and a shell are not what somebody wants to have adopted; a profile whose program is an interpreter names no agent. */
export function recognize(words: readonly string[], profiles: readonly Profile[]): Profile | undefined {
  const names = programNames(words);
  return profiles.find(({ command, kind }) => {
    const own = kind === "terminal" && typeof command !== "function" ? basename(command[0] ?? "") : "";
    return own !== "" && !INTERPRETERS.test(own) && names.includes(own);
  });
}

/** What the agent itself was given: without its program, and the interpreter of that. */
export function ownArguments([program = "", ...args]: readonly string[]): readonly string[] {
  return INTERPRETERS.test(basename(program)) ? args.slice(args.findIndex((word) => !word.startsWith("-")) + 1) : args;
}

/** The program itself, and the script where it is an interpreter: a shell names a script as it was typed, with or without its ending. */
function programNames([program = "", ...args]: readonly string[]): string[] {
  // A login shell begins with a dash; some programs write blanks behind their name.
  const name = basename(program.replace(/^-/, "").split(" ")[0] ?? "");
  if (!INTERPRETERS.test(name)) return [name];
  const at = args.findIndex((word) => word !== "" && !word.startsWith("-"));
  const script = args[at];
  // What it runs is a text; the agent in it is a process of its own.
  const isText = args.slice(0, at).some((word) => /^-[a-z]*[ce]$/.test(word));
  return script === undefined || isText ? [] : [basename(script).replace(/\.(?:[cm]?js|py|sh|pl|rb)$/, "")];
}

/** The id of the conversation in the words of an agent that was started with one. */
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

/** Long enough not to be a name that somebody gave something else. */
const ID = /^\w[\w.-]{7,199}$/;
