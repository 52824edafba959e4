/** The port to what keeps conversations. A keeper outlives the daemon; what it was told once it does not do twice. */
import type { ConversationState, ToConversation } from "@holdfast/contract";
import type { RunId } from "../host/host.ts";

type WithoutId<T> = T extends unknown ? Omit<T, "id"> : never;
export type ConversationRequest = WithoutId<Extract<ToConversation, { id: number }>>;

export interface ConversationKeeper {
  /** Answers when it was done, with how it stands then. */
  converse(run: RunId, request: ConversationRequest): Promise<ConversationState>;
}
