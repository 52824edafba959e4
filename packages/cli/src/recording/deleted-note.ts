import { formatBytes } from "../text/bytes.ts";
import type { Deleted } from "./bytes.ts";

/** A note for people, in place of the output. */
export function deletedNote({ from, to, limitBytes }: Deleted): string {
  const limit = limitBytes === null ? "" : ` (limit ${formatBytes(limitBytes)})`;
  return `… ${formatBytes(to - from)} of ${from === 0 ? "earlier " : ""}output were deleted${limit}`;
}
