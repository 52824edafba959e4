import { HoldfastError } from "@holdfast/contract/errors";
import { editDistance } from "@holdfast/platform/edit-distance";
import { COMMANDS } from "./registry.ts";

/** A slip of the keyboard, or two. */
const SLIPS = 2;

/** Those that are a slip away; without any, those that begin alike. */
export function unknownCommand(name: string): HoldfastError {
  const known = Object.keys(COMMANDS).filter((command) => !command.startsWith("__"));
  const slips = known.filter((command) => editDistance(command, name) <= SLIPS);
  const alike = known.filter((command) => command.startsWith(name.slice(0, 2)) || (name !== "" && command.includes(name)));
  const candidates = slips.length > 0 ? slips : alike;
  return new HoldfastError("usage", `there is no command ${JSON.stringify(name)}`, { hint: "holdfast --help lists them", candidates });
}
