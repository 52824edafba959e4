import type { ForkedFrom } from "@holdfast/contract";
import type { Copied } from "../agent/fork.ts";

/** Tells a start which conversation it continues. */
export interface ForkOrder {
  from: ForkedFrom;
  /** Copies the conversation for use in that directory; null if the agent copies it when it starts. */
  copy(directory: string): Promise<Copied | null>;
}
