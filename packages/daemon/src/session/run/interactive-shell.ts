import { basename } from "node:path";

const SHELLS = new Set(["sh", "ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "tcsh", "xonsh", "zsh"]);

/** Options that take a value. */
const WITH_VALUE = /^(?:--rcfile|--init-file|[-+][oO])$/;

/**
 * A shell at its prompt ignores SIGTERM, and exits when its terminal hangs up. Every other program may use the time after SIGTERM to clean up, which
 * a SIGHUP would cut short.
 */
export function isInteractiveShell([program = "", ...args]: readonly string[]): boolean {
  if (!SHELLS.has(basename(program))) return false;
  for (const [i, argument] of args.entries()) {
    if (/^-[a-z]*c/.test(argument) || argument === "--command") return false;
    // A script, unless it is the value of the previous option.
    if (!/^[-+]/.test(argument) && !WITH_VALUE.test(args[i - 1] ?? "")) return false;
  }
  return true;
}
