import * as z from "zod/mini";
import { type Endpoint, SESSION_ERRORS } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { flag } from "../wire.ts";
import { TASK_OUTCOMES } from "./enums.ts";
import { NewTask, Task } from "./task.ts";

export const TASK_ENDPOINTS = {
  startTask: {
    ...ROUTES.startTask,
    summary: "Records that a session begins a task. The same caller reports its end.",
    scope: "driver",
    reach: "own",
    body: NewTask,
    reply: Task,
    errors: SESSION_ERRORS,
  },
  endTask: {
    ...ROUTES.endTask,
    summary: "Records how a task ended. An ended task does not change.",
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
    answeredWithout: ["daemon"],
    summary: "Tasks, oldest first: of a session, of a task file, or only open ones.",
    scope: "observer",
    reach: "own",
    query: z.object({ session: z.optional(z.string()), file: z.optional(z.string()), open: flag }),
    reply: z.object({ tasks: z.array(Task) }),
    errors: SESSION_ERRORS,
  },
} as const satisfies Record<string, Endpoint>;
