import type { Tool } from "./tool.ts";
import { CONTEXT_TOOLS } from "./tools/context.ts";
import { GROUP_TOOLS } from "./tools/groups.ts";
import { MESSAGE_TOOLS } from "./tools/messages.ts";
import { MONITOR_TOOLS } from "./tools/monitor.ts";
import { PEOPLE_TOOLS } from "./tools/people.ts";
import { SESSION_TOOLS } from "./tools/sessions.ts";
import { SHARED_CONTEXT_TOOLS } from "./tools/shared-context.ts";
import { SHELL_TOOLS } from "./tools/shells.ts";
import { TRANSCRIPT_TOOLS } from "./tools/transcript.ts";
import { WAITING_TOOLS } from "./tools/waiting.ts";

/** All tools, in the order in which an agent reads them. */
export const TOOLS: readonly Tool[] = [
  ...SESSION_TOOLS,
  ...MESSAGE_TOOLS,
  ...WAITING_TOOLS,
  ...MONITOR_TOOLS,
  ...SHELL_TOOLS,
  ...TRANSCRIPT_TOOLS,
  ...GROUP_TOOLS,
  ...SHARED_CONTEXT_TOOLS,
  ...PEOPLE_TOOLS,
  ...CONTEXT_TOOLS,
];
