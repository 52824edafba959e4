/** Checks the programs that Holdfast needs. */
import { VERSION } from "@holdfast/contract";
import { findProgram, STANDARD_PATH } from "@holdfast/platform";
import type { Check } from "./check.ts";

export interface TmuxFacts {
  /** How to install it. */
  hint: string;
  /** Undefined if it is not installed; `isNew`: it reports signal names and resizes. */
  program: { path: string; version: string; isNew: boolean } | undefined;
}

export function programs(tmux: TmuxFacts): Check[] {
  const own: Check = { id: "versions", level: "ok", what: `holdfast ${VERSION} on Node ${process.versions.node}`, remedy: null };
  return tmux.program ? [own, tmuxVersion(tmux.program), recorder()] : [own, noTmux(tmux.hint)];
}

function noTmux(hint: string): Check {
  const what = "tmux is not installed: sessions run on the native host";
  return { id: "tmux", level: "note", what, remedy: `to use the tmux host: ${hint}` };
}

function tmuxVersion(tmux: { path: string; version: string; isNew: boolean }): Check {
  const what = `tmux ${tmux.version} (${tmux.path})`;
  if (tmux.isNew) return { id: "tmux", level: "ok", what, remedy: null };
  const lacks = "cannot report the signal that ended a program, nor a window's resize";
  return { id: "tmux", level: "warning", what: `${what} ${lacks}`, remedy: "install tmux 3.3 or newer" };
}

function recorder(): Check {
  if (findProgram("split", STANDARD_PATH, "/"))
    return { id: "recorder", level: "ok", what: "split, which records terminals, is installed", remedy: null };
  return {
    id: "recorder",
    level: "problem",
    what: "split, which records terminals on the tmux host, is missing",
    remedy: "install coreutils, or use --host native",
  };
}
