/** Tasks: objectives given to a session as a whole, in one or more turns, such as an item of a task file. */
import * as z from "zod/mini";
import { SessionId } from "../ids.ts";
import { Time } from "../session/session.ts";
import { TASK_OUTCOMES } from "./enums.ts";

const text = z.string().check(z.maxLength(10_000, "a task's text has at most 10,000 characters"));

export const NewTask = z.object({
  title: text,
  /** The task file and the item's number in it, if the task is such an item. */
  file: z.nullable(z.string().check(z.maxLength(4096, "a file path has at most 4096 characters"))),
  label: z.nullable(text),
  turns: z.int().check(z.positive()),
});

export const TASK_EVENTS = {
  "task.started": z.extend(NewTask, { id: z.string() }),
  /** `why`: the reason if the task was not done. */
  "task.ended": z.object({ id: z.string(), outcome: z.enum(TASK_OUTCOMES), why: z.nullable(z.string()) }),
};

export const Task = z.extend(NewTask, {
  id: z.string(),
  session: SessionId,
  /** The session's current name. */
  name: z.string(),
  startedAt: Time,
  /** All three are null while the task runs; `why` also if there is no reason to give. */
  endedAt: z.nullable(Time),
  outcome: z.nullable(z.enum(TASK_OUTCOMES)),
  why: z.nullable(z.string()),
});
export type Task = z.infer<typeof Task>;
