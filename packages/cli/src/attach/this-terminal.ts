/** Describes the attaching terminal. The daemon recognizes it by its process. */
import { readlinkSync } from "node:fs";
import type { AttachingClient } from "@holdfast/contract/terminal/attachments";

export function thisTerminal(): AttachingClient {
  // The first address in SSH_CONNECTION is the client's.
  const from = process.env.SSH_CONNECTION?.split(" ")[0] || null;
  const mark = process.env.HOLDFAST_ATTACHMENT;
  return { pid: process.pid, terminal: deviceOf(0), from, ...(mark ? { mark } : {}) };
}

function deviceOf(descriptor: number): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // No /proc: not Linux.
    return null;
  }
}
