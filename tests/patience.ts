/** vitest waits one second by default, which is too short on a busy machine. */
import { vi } from "vitest";

const PATIENCE_MS = 20_000;

const { waitFor } = vi;
vi.waitFor = (callback, options = {}) => {
  const { timeout = 0, ...rest } = typeof options === "number" ? { timeout: options } : options;
  return waitFor(callback, { ...rest, timeout: Math.max(timeout, PATIENCE_MS) });
};
