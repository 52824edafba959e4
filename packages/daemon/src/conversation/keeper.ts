/** The port to the keepers of conversations. A keeper outlives the daemon, and does not repeat what it has already done. */
import type { ConversationState, ToConversation } from "@holdfast/contract";
import type { RunId } from "../host/host.ts";

type WithoutId<T> = T extends unknown ? Omit<T, "id"> : never;
export type ConversationRequest = WithoutId<Extract<ToConversation, { id: number }>>;

export interface ConversationKeeper {
  /** Resolves when the request is done, with the state at that time. */
  converse(run: RunId, request: ConversationRequest): Promise<ConversationState>;
}
