import { HoldfastError } from "@holdfast/contract/errors";
import type { Context } from "../command.ts";

export function oneId({ args: [id, ...more] }: Context): string {
  if (id !== undefined && more.length === 0) return id;
  throw new HoldfastError("usage", "expected the id of one orphan", { hint: "list them: holdfast orphans ls" });
}
