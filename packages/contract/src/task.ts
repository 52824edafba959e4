/** Work that was given to a session as a whole: an objective in one or more turns. An item of a task file is one. */
import * as z from "zod/mini";
import { SessionId } from "./ids.ts";
import { Time } from "./session.ts";
import { TASK_OUTCOMES } from "./status.ts";

const text = z.string().check(z.maxLength(10_000, "a task's text has at most 10,000 characters"));

export const NewTask = z.object({
  title: text,
  /** The task file it is an item of, and its number there. */
  file: z.nullable(z.string().check(z.maxLength(4096, "a file path has at most 4096 characters"))),
  label: z.nullable(text),
  turns: z.int().check(z.positive()),
});

export const TASK_EVENTS = {
  "task.started": z.extend(NewTask, { id: z.string() }),
  /** `why`: of one that was not done. */
  "task.ended": z.object({ id: z.string(), outcome: z.enum(TASK_OUTCOMES), why: z.nullable(z.string()) }),
};

export const Task = z.extend(NewTask, {
  id: z.string(),
  session: SessionId,
  /** The session's, now. */
  name: z.string(),
  startedAt: Time,
  /** All three null while it runs; the last also where there is nothing to say. */
  endedAt: z.nullable(Time),
  outcome: z.nullable(z.enum(TASK_OUTCOMES)),
  why: z.nullable(z.string()),
});
export type Task = z.infer<typeof Task>;
