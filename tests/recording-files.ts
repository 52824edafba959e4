/** The recording of an ended session, with the given bytes and times. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import type { TestHome } from "./home.ts";

const SEGMENT_BYTES = 1 << 20;

/** `times` are lines of times.idx. */
export async function endedWith(home: TestHome, what: { name: string; bytes: string | Uint8Array; times: string[] }): Promise<Session> {
  const { id } = await home.run("exit 0", "--name", what.name);
  const session = await home.ended(id);
  const directory = path.dirname(session.outputPath ?? "");
  const bytes = Buffer.from(what.bytes);
  for (let at = 0; at < Math.max(1, bytes.length); at += SEGMENT_BYTES) {
    const number = String(at / SEGMENT_BYTES).padStart(6, "0");
    writeFileSync(path.join(directory, `output.${number}`), bytes.subarray(at, at + SEGMENT_BYTES));
  }
  writeFileSync(path.join(directory, "times.idx"), what.times.map((line) => `${line}\n`).join(""));
  return session;
}
