import type { Finding } from "@holdfast/contract";

/** `fix` exists if the finding can be repaired safely. */
export type Check = Omit<Finding, "fixed"> & { fix?: () => void };
