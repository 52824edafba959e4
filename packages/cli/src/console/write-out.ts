import { once } from "node:events";

/** Waits for a slow reader instead of filling memory. */
export async function writeOut(text: string | Uint8Array): Promise<void> {
  if (text.length > 0 && !process.stdout.write(text)) await once(process.stdout, "drain");
}
