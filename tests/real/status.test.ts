import { test } from "vitest";
import { followsStatus } from "./status.ts";

test.each(["qwen", "gemini"] as const)(
  "%s is idle, working, waiting for an approval, and idle again, also after Esc (NEW-03 agents)",
  (agent) => followsStatus(agent),
  120_000,
);
