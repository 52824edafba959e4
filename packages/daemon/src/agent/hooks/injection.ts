/**
 * Injects hooks into an agent so that it reports what it does, through flags, environment and files of the run. A user's files are not touched. The
 * injected files belong to one run and are in its directory, under `hooks/`; hooks write their signals to `signals/`.
 *
 * A hook does not start Node: it is a shell script that writes its input to a file and then renames the file. Only complete files have a name without
 * a leading dot, and parallel hooks write separate files. A hook that asks for permission also waits on a FIFO in `answers/` (answer-files.ts).
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { shellQuote, writeFileAtomic } from "@holdfast/platform";

export interface InjectionPlace {
  /** The run's directory for injected files. */
  directory: string;
  /** The shell command of a hook that reports. It uses `sh`, because the home may be mounted noexec. */
  tell: string;
  /** The same for a hook that decides: it waits for an answer from the inbox and prints it, or ends without output. */
  ask: string;
  /** The user's environment and arguments. */
  env: Readonly<Record<string, string>>;
  args: readonly string[];
  cwd: string;
}

export interface Injected {
  /** Placed before the user's own arguments. */
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Contents by file name in the directory. */
  files?: Readonly<Record<string, string>>;
}

/** Injects the hooks of an agent. */
export interface Injecting {
  inject(place: InjectionPlace): Injected;
}

export const SIGNALS = "signals";
const HOOKS = "hooks";
export const ANSWERS = "answers";

/** Suffix of the signal file of a hook that waits for an answer, and of its FIFO. */
export const ASK = ".ask";

/** Suffix of an empty file in place of a signal that did not fit on a full disk: a file name needs no disk space. */
export const LOST = ".lost";

/** The file is named by the hook's pid, which is unique among live processes. A file that is not read yet keeps its name. */
const TELL = `#!/bin/sh
d=\${0%/*}/../${SIGNALS}
n=$$
while [ -e "$d/$n" ] || [ -e "$d/$n${LOST}" ]; do n=$n.0; done
{ cat > "$d/.$n" && mv "$d/.$n" "$d/$n"; } 2>/dev/null || { : > "$d/.$n" && mv "$d/.$n" "$d/$n${LOST}"; } 2>/dev/null || rm -f "$d/.$n"
exit 0
`;

/**
 * The script opens the FIFO before it reports, and also for writing. So the FIFO has a reader as long as the script lives, and keeps written bytes
 * until they are read; without a reader nothing waits. The answer is a separate file, written before the FIFO is, because a daemon may die in
 * between. Names are unique even if the clock changes: otherwise an old answer could answer a new request. Where no FIFO can be made, the script only
 * reports, and the agent asks on its screen. Other programs must not inherit the FIFO: they may outlive a killed script.
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
if { cat > "$s/.$n" 3>&- && mv "$s/.$n" "$s/$n" 3>&-; } 2>/dev/null; then
  while [ ! -f "$f.json" ]; do read -r x <&3 || break; done
  cat "$f.json" 2>/dev/null
else
  { : > "$s/.$n" && mv "$s/.$n" "$s/$n${LOST}" 3>&-; } 2>/dev/null || rm -f "$s/.$n"
fi
rm -f "$f" "$f.json"
exit 0
`;

/** Writes the injected files of this run. Returns additional arguments and variables for the start. */
export function injectHooks(
  profile: { hooks?: Injecting } | undefined,
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

/** True if the run was started with hooks: not every agent accepts them everywhere. */
export function hasHooks(runDirectory: string): boolean {
  return existsSync(join(runDirectory, HOOKS));
}
