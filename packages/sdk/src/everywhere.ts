/** The part of the SDK that runs everywhere. */
export type { Approval } from "@holdfast/contract/approval";
export type { PlacedEntry } from "@holdfast/contract/conversation-endpoints";
export type { DaemonStatus } from "@holdfast/contract/endpoints";
export type { ErrorCode } from "@holdfast/contract/errors";
export type { HoldfastEvent } from "@holdfast/contract/events";
export type { Group, GroupMember, GroupStats, Peer, SharedKey, SharedValue, ValueChange } from "@holdfast/contract/group";
export type { Screen } from "@holdfast/contract/holder";
export type { GroupMessage, Message } from "@holdfast/contract/message";
export type { ReadMessage } from "@holdfast/contract/message-endpoints";
export type { Session as SessionRecord } from "@holdfast/contract/session";
export type { MessageState, SessionStatus, TurnEnd } from "@holdfast/contract/status";
export type { Entry } from "@holdfast/contract/transcript";
export type { Sums as TurnUsage, UsageReport } from "@holdfast/contract/usage";
export { Approvals, type WaitingApproval } from "./approvals.ts";
export { HoldfastClient } from "./client.ts";
export type { Endpoints } from "./endpoints.ts";
export {
  AbortError,
  AgentCrashed,
  BudgetExceeded,
  DaemonUnreachable,
  HoldfastError,
  PermissionRefused,
  RateLimited,
  Timeout,
  ToolFailed,
  Unauthenticated,
} from "./errors.ts";
export type { EventOptions, JournalEvent } from "./follow.ts";
export { type GroupSendOptions, Groups, type ShareOptions } from "./groups.ts";
export { Holdfast, type UsageOptions } from "./holdfast.ts";
export { type ListMessages, Messages, type Receipt, type SendOptions } from "./messages.ts";
export { Query } from "./query.ts";
export type { Leave, QueryEvent, QueryOptions, QueryResult } from "./query-types.ts";
export { type OutputOptions, Session, type StartOptions, type StopOptions, type WaitOptions } from "./session.ts";
export { type ListOptions, type SessionOptions, Sessions } from "./sessions.ts";
export { type AttachOptions, Terminal } from "./terminal.ts";
export { httpTransport } from "./transport/http.ts";
export type { Transport, WireChannel, WireReply, WireRequest, WireStream } from "./transport.ts";
