import * as z from "zod/mini";
import { type Endpoint, SESSION_ERRORS } from "./endpoint.ts";
import { ROUTES } from "./routes.ts";
import { TASK_OUTCOMES } from "./status.ts";
import { NewTask, Task } from "./task.ts";
import { flag } from "./wire.ts";

export const TASK_ENDPOINTS = {
  startTask: {
    ...ROUTES.startTask,
    summary: "Says that a session is given a task now. Who says so tells its end, too.",
    scope: "driver",
    reach: "own",
    body: NewTask,
    reply: Task,
    errors: SESSION_ERRORS,
  },
  endTask: {
    ...ROUTES.endTask,
    summary: "Says how a task ended. One that has ended stays as it is.",
    scope: "driver",
    reach: "own",
    body: z.object({
      outcome: z.enum(TASK_OUTCOMES),
      why: z._default(z.nullable(z.string().check(z.maxLength(10_000, "a reason has at most 10,000 characters"))), null),
    }),
    reply: Task,
    errors: ["task_not_found"],
  },
  listTasks: {
    ...ROUTES.listTasks,
    summary: "Tasks, oldest first: of a session, of a task file, or only those that have not ended.",
    scope: "observer",
    reach: "own",
    query: z.object({ session: z.optional(z.string()), file: z.optional(z.string()), open: flag }),
    reply: z.object({ tasks: z.array(Task) }),
    errors: SESSION_ERRORS,
  },
} as const satisfies Record<string, Endpoint>;
