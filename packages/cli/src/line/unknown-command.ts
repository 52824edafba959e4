import { HoldfastError } from "@holdfast/contract/errors";
import { isSimilar } from "@holdfast/platform/edit-distance";
import { COMMANDS } from "../registry.ts";

/** Names that other programs use. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  list: "ls",
  ps: "ls",
  kill: "stop",
  delete: "rm",
  remove: "rm",
  mv: "rename",
  new: "spawn",
  open: "attach",
  inspect: "show",
  info: "show",
  tail: "logs",
  approve: "approvals",
  man: "help",
  "-v": "--version",
};

export function unknownCommand(name: string): HoldfastError {
  const meant = Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined;
  if (meant !== undefined) return new HoldfastError("usage", `unknown command ${JSON.stringify(name)}`, { hint: `use: holdfast ${meant}` });
  const candidates = Object.keys(COMMANDS).filter((command) => isSimilar(command, name));
  return new HoldfastError("usage", `unknown command ${JSON.stringify(name)}`, { hint: "holdfast --help lists the commands", candidates });
}
