import { basename } from "node:path";

const SHELLS = new Set(["sh", "ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "tcsh", "xonsh", "zsh"]);

/**
 * A shell at its prompt ignores SIGTERM, and goes when its terminal hangs up. Every other program may use the time after SIGTERM to
 * clean up, which a SIGHUP would cut short.
 */
export function isInteractiveShell([program = "", ...args]: readonly string[]): boolean {
  return SHELLS.has(basename(program)) && args.every((argument) => /^(-[il]+|--login|--interactive)$/.test(argument));
}
