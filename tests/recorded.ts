import { readFileSync } from "node:fs";
import type { Session } from "@holdfast/contract";
import { eventually } from "./home.ts";

/** What is on disk at a session's output path now; its recorder makes the file with the first byte. */
export function recorded({ outputPath }: Pick<Session, "outputPath">): string {
  if (!outputPath) throw new Error("the session has no output path");
  try {
    return readFileSync(outputPath, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** The program works and what it prints is recorded. */
export async function recordingGrows(session: Pick<Session, "outputPath">): Promise<void> {
  const { length } = recorded(session);
  await eventually(() => recorded(session).length > length + 10);
}
