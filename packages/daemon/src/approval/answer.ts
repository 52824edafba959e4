import type { Decision, Principal } from "@holdfast/contract";

export interface Answer {
  decision: Decision;
  reason?: string | undefined;
  /** Allows it from now on, not only this once. */
  always?: boolean;
  /** Digest of the request as the principal saw it. */
  digest?: string | undefined;
  actor: Principal;
}
