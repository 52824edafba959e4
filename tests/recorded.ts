import { readFileSync } from "node:fs";
import type { Session } from "@holdfast/contract";
import { eventually } from "./home.ts";

/** The current content of a session's output file; the recorder creates the file with the first byte. */
export function recorded({ outputPath }: Pick<Session, "outputPath">): string {
  if (!outputPath) throw new Error("the session has no output path");
  try {
    return readFileSync(outputPath, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** Waits until the recording of the running program grows. */
export async function recordingGrows(session: Pick<Session, "outputPath">): Promise<void> {
  const { length } = recorded(session);
  await eventually(() => recorded(session).length > length + 10);
}
