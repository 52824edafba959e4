import { existsSync } from "node:fs";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

const STANDARD = ["/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo", "/usr/lib/terminfo", "/usr/local/share/terminfo"];

/** Understood well enough by every current terminal. */
const COMMON = "xterm-256color";

/**
 * TERM as tmux can use it. New terminals (xterm-ghostty, xterm-kitty, …) name a description that other machines lack; tmux would then refuse to
 * draw.
 */
export function usableTerm(env: Environment, standard: readonly string[] = STANDARD): string {
  const term = env.TERM;
  if (!term) return COMMON;
  const own = [env.TERMINFO, env.HOME && join(env.HOME, ".terminfo"), ...(env.TERMINFO_DIRS?.split(":") ?? [])];
  const directories = [...own, ...standard].filter((directory): directory is string => Boolean(directory) && existsSync(String(directory)));
  const described = directories.some((directory) =>
    [term.charAt(0), term.charCodeAt(0).toString(16)].some((folder) => existsSync(join(directory, folder, term))),
  );
  // Without descriptions in the usual places, they are elsewhere, so keep TERM.
  return described || directories.length === 0 ? term : COMMON;
}
