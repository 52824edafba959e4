/** Which terminal is about to be attached: the daemon knows it again by its process. */
import { readlinkSync } from "node:fs";
import type { AttachingClient } from "@holdfast/contract/people";

export function thisTerminal(): AttachingClient {
  // The address that sshd names first is the one somebody came from.
  const from = process.env.SSH_CONNECTION?.split(" ")[0] || null;
  const mark = process.env.HOLDFAST_ATTACHMENT;
  return { pid: process.pid, terminal: deviceOf(0), from, ...(mark ? { mark } : {}) };
}

function deviceOf(descriptor: number): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // Not on Linux.
    return null;
  }
}
