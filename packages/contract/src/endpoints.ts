import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";
import { ACCESS_ENDPOINTS } from "./access/endpoints.ts";
import { AGENT_ENDPOINTS } from "./agent/endpoints.ts";
import { APPROVAL_ENDPOINTS } from "./approval/endpoints.ts";
import { CHECKPOINT_ENDPOINTS } from "./checkpoint/endpoints.ts";
import { CONTEXT_ENDPOINTS } from "./context/endpoints.ts";
import { CONVERSATION_ENDPOINTS } from "./conversation/endpoints.ts";
import { DAEMON_ENDPOINTS } from "./daemon/endpoints.ts";
import { UPKEEP_ENDPOINTS } from "./daemon/upkeep-endpoints.ts";
import { DIGEST_ENDPOINTS } from "./digest/endpoints.ts";
import type { Endpoint } from "./endpoint.ts";
import { GROUP_ENDPOINTS } from "./group/endpoints.ts";
import { EVENT_ENDPOINTS } from "./journal/endpoints.ts";
import { MESSAGE_ENDPOINTS } from "./message/endpoints.ts";
import { PERSONA_ENDPOINTS } from "./persona/endpoints.ts";
import { PLAN_ENDPOINTS } from "./plan/endpoints.ts";
import { RECORDING_ENDPOINTS } from "./recording/endpoints.ts";
import type { EndpointName } from "./routes.ts";
import { ADOPTION_ENDPOINTS } from "./session/adoption.ts";
import { SESSION_ENDPOINTS } from "./session/endpoints.ts";
import { EXPLAIN_ENDPOINTS } from "./session/evidence.ts";
import { PROGRESS_ENDPOINTS } from "./session/progress.ts";
import { TASK_ENDPOINTS } from "./task/endpoints.ts";
import { TERMINAL_ENDPOINTS } from "./terminal/endpoints.ts";
import { TOURNAMENT_ENDPOINTS } from "./tournament/endpoints.ts";
import { TRUST_ENDPOINTS } from "./trust/endpoints.ts";
import { USAGE_ENDPOINTS } from "./usage/endpoints.ts";
import { WORKSPACE_ENDPOINTS } from "./workspace/endpoints.ts";

/**
 * Without a locale, zod/mini reports every error only as invalid input. Custom messages are shown unchanged (`sentence` in the daemon's `bind.ts`).
 * They begin with a lower-case letter, unlike all messages of the library.
 */
z.config(en());

export const ENDPOINTS = {
  ...DAEMON_ENDPOINTS,
  ...SESSION_ENDPOINTS,
  ...TERMINAL_ENDPOINTS,
  ...MESSAGE_ENDPOINTS,
  ...EXPLAIN_ENDPOINTS,
  ...RECORDING_ENDPOINTS,
  ...DIGEST_ENDPOINTS,
  ...CONVERSATION_ENDPOINTS,
  ...USAGE_ENDPOINTS,
  ...ADOPTION_ENDPOINTS,
  ...APPROVAL_ENDPOINTS,
  ...PROGRESS_ENDPOINTS,
  ...WORKSPACE_ENDPOINTS,
  ...CHECKPOINT_ENDPOINTS,
  ...CONTEXT_ENDPOINTS,
  ...TOURNAMENT_ENDPOINTS,
  ...TRUST_ENDPOINTS,
  ...AGENT_ENDPOINTS,
  ...TASK_ENDPOINTS,
  ...GROUP_ENDPOINTS,
  ...PLAN_ENDPOINTS,
  ...PERSONA_ENDPOINTS,
  ...UPKEEP_ENDPOINTS,
  ...EVENT_ENDPOINTS,
  ...ACCESS_ENDPOINTS,
} as const satisfies Record<EndpointName, Endpoint>;

export function isAnsweredWithout(missing: "daemon" | "configuration", name: EndpointName): boolean {
  const { answeredWithout = [] }: Endpoint = ENDPOINTS[name];
  return answeredWithout.includes(missing);
}
