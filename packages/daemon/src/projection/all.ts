/** Every projection, in the order in which they process an event: the turns projection reads rows that the sessions projection wrote. */
import type { Projection } from "../journal/journal.ts";
import { approvalsProjection } from "./approvals.ts";
import { attachmentsProjection } from "./attachments.ts";
import { generationsProjection } from "./generations.ts";
import { groupMessagesProjection } from "./group-messages.ts";
import { groupsProjection } from "./groups.ts";
import { looksProjection } from "./looks.ts";
import { messagesProjection } from "./messages.ts";
import { plansProjection } from "./plans.ts";
import { restoresProjection } from "./restores.ts";
import { sessionsProjection } from "./sessions.ts";
import { tasksProjection } from "./tasks.ts";
import { tokensProjection } from "./tokens.ts";
import { tournamentsProjection } from "./tournaments.ts";
import { trustProjection } from "./trust.ts";
import { turnsProjection } from "./turns.ts";
import { usageProjection } from "./usage.ts";
import { workspacesProjection } from "./workspaces.ts";

export const PROJECTIONS: readonly Projection[] = [
  sessionsProjection,
  messagesProjection,
  groupMessagesProjection,
  tokensProjection,
  restoresProjection,
  approvalsProjection,
  workspacesProjection,
  generationsProjection,
  tournamentsProjection,
  attachmentsProjection,
  turnsProjection,
  looksProjection,
  usageProjection,
  tasksProjection,
  groupsProjection,
  plansProjection,
  trustProjection,
];
