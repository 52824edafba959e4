/**
 * Puts hooks into an agent so that it tells what it does, by its flags, its environment and files of the run's own: a user's files are
 * not touched. What is put in belongs to one run and lies in its directory, under `hooks/`; what hooks say comes into `signals/`.
 *
 * A hook costs no Node: it is a shell script that writes what it is told into a file and then gives it its name. Only whole files have a name
 * without a dot, and two hooks at once write two files. A hook that asks for leave waits besides, on a FIFO in `answers/` (answer-files.ts).
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { shellQuote, writeFileAtomic } from "@holdfast/platform";
import type { Profile } from "../profile.ts";

export interface InjectionPlace {
  /** The run's own directory for it. */
  directory: string;
  /** The shell command that a hook runs to tell. Through `sh`: the home may be where nothing can be executed. */
  tell: string;
  /** The same for a hook that decides: it waits for the answer of the inbox and prints it, or ends without a word. */
  ask: string;
  /** The environment and the arguments with which the user starts it. */
  env: Readonly<Record<string, string>>;
  args: readonly string[];
  cwd: string;
}

export interface Injected {
  /** Before the user's own. */
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** By their names in the directory. */
  files?: Readonly<Record<string, string>>;
}

export const SIGNALS = "signals";
const HOOKS = "hooks";
export const ANSWERS = "answers";

/** What a hook tells that waits for an answer is in a file with this ending, and so is the FIFO it waits on. */
export const ASK = ".ask";

/** What a hook could not tell, on a full disk, is an empty file with this ending: a name needs no room where words do. */
export const LOST = ".lost";

/** The name is that of the process that tells: two that live have two. One that was told and not read yet keeps its name. */
const TELL = `#!/bin/sh
d=\${0%/*}/../${SIGNALS}
n=$$
while [ -e "$d/$n" ] || [ -e "$d/$n${LOST}" ]; do n=$n.0; done
{ cat > "$d/.$n" && mv "$d/.$n" "$d/$n"; } 2>/dev/null || { : > "$d/.$n" && mv "$d/.$n" "$d/$n${LOST}"; } 2>/dev/null || rm -f "$d/.$n"
exit 0
`;

/**
 * The FIFO is opened before anything is told, and for writing too: it has a reader for as long as this lives, and what is written into it
 * stays until it is read. Whoever looks at it afterwards and finds no reader knows that nobody waits. The answer is a file of its own,
 * written before the FIFO says so: a daemon may die in between. No two have one name, whatever is done to the clock: what was answered once
 * would answer another. Where no FIFO can be made it only tells, and the agent asks by itself.
 */
const ASKING = `#!/bin/sh
r=\${0%/*}/..
set -- $(date +%s) $(od -An -N4 -tu4 /dev/urandom 2>/dev/null)
n=$1.$$.$2${ASK}
f=$r/${ANSWERS}/$n
mkfifo "$f" 2>/dev/null || exec sh "\${0%/*}/tell"
trap 'rm -f "$f" "$f.json"; exit 0' HUP INT TERM
exec 3<>"$f"
s=$r/${SIGNALS}
if { cat > "$s/.$n" && mv "$s/.$n" "$s/$n"; } 2>/dev/null; then
  while [ ! -f "$f.json" ]; do read -r x <&3 || break; done
  cat "$f.json" 2>/dev/null
else
  { : > "$s/.$n" && mv "$s/.$n" "$s/$n${LOST}"; } 2>/dev/null || rm -f "$s/.$n"
fi
rm -f "$f" "$f.json"
exit 0
`;

/** Writes what is put into the agent for this run; answers what it is to be started with besides. */
export function injectHooks(
  profile: Profile | undefined,
  run: { directory: string; env: Readonly<Record<string, string>>; args: readonly string[]; cwd: string },
): { args: readonly string[]; env: Readonly<Record<string, string>> } {
  if (!profile?.hooks) return { args: [], env: {} };
  const directory = join(run.directory, HOOKS);
  const command = (name: string) => `sh ${shellQuote(join(directory, name))}`;
  const injected = profile.hooks.inject({ ...run, directory, tell: command("tell"), ask: command("ask") });
  const { args = [], env = {}, files = {} } = injected;
  if (Object.keys(injected).length === 0) return { args, env };
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  mkdirSync(join(run.directory, SIGNALS), { recursive: true, mode: 0o700 });
  mkdirSync(join(run.directory, ANSWERS), { recursive: true, mode: 0o700 });
  for (const [name, content] of Object.entries({ tell: TELL, ask: ASKING, ...files })) writeFileAtomic(join(directory, name), content);
  return { args, env };
}

/** Whether the run was started with hooks: not every agent can be given them everywhere. */
export function hasHooks(runDirectory: string): boolean {
  return existsSync(join(runDirectory, HOOKS));
}
