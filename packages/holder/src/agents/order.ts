import { readFileSync } from "node:fs";
import * as z from "zod/mini";

/** The order that an agent is started with. An unreadable order ends the process, with the reason on standard error. */
export function readOrder<T extends z.ZodMiniType>(file: string, schema: T): z.infer<T> {
  try {
    return schema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    const why = error instanceof z.core.$ZodError ? z.prettifyError(error) : (error as Error).message;
    process.stderr.write(`${file || "the order"} cannot be read: ${why}\n`);
    process.exit(2);
  }
}
