/** The part of the SDK that runs everywhere. */
export type { Approval } from "@holdfast/contract/approval/approval";
export type { PlacedEntry } from "@holdfast/contract/conversation/endpoints";
export type { TurnEnd } from "@holdfast/contract/conversation/enums";
export type { Entry } from "@holdfast/contract/conversation/transcript";
export type { DaemonStatus } from "@holdfast/contract/daemon/endpoints";
export type { ErrorCode } from "@holdfast/contract/errors";
export type { HoldfastEvent } from "@holdfast/contract/events";
export type { Group, GroupMember, GroupStats, Peer, SharedKey, SharedValue, ValueChange } from "@holdfast/contract/group/group";
export type { ReadMessage } from "@holdfast/contract/message/endpoints";
export type { MessageState } from "@holdfast/contract/message/enums";
export type { GroupMessage, Message } from "@holdfast/contract/message/message";
export type { Session as SessionRecord } from "@holdfast/contract/session/session";
export type { SessionStatus } from "@holdfast/contract/session/status";
export type { Screen } from "@holdfast/contract/terminal/holder";
export type { Sums as TurnUsage, UsageReport } from "@holdfast/contract/usage/usage";
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
export type { ApprovalAnswer, QueryEvent, QueryOptions, QueryResult } from "./query-types.ts";
export { type OutputOptions, Session, type StartOptions, type StopOptions, type WaitOptions } from "./session.ts";
export { type ListOptions, type SessionOptions, Sessions } from "./sessions.ts";
export { type AttachOptions, Terminal } from "./terminal.ts";
export { httpTransport } from "./transport/http.ts";
export type { Transport, WireChannel, WireReply, WireRequest, WireStream } from "./transport.ts";
