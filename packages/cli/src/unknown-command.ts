import { HoldfastError } from "@holdfast/contract/errors";
import { COMMANDS } from "./registry.ts";

export function unknownCommand(name: string): HoldfastError {
  const candidates = Object.keys(COMMANDS).filter(
    (known) => !known.startsWith("__") && (known.startsWith(name.slice(0, 2)) || (name !== "" && known.includes(name))),
  );
  return new HoldfastError("usage", `there is no command ${JSON.stringify(name)}`, { hint: "holdfast --help lists them", candidates });
}
