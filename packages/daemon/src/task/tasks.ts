/**
 * Tasks as reported by their sender: the daemon stores which session has which task, and how each ended. A task whose sender died stays
 * open; a rerun of its file finds it by the file, and continues with its session.
 */
import { type EventData, HoldfastError, newTaskId, type Principal, type SessionId, type Task, type TaskOutcome } from "@holdfast/contract";
import type { Journal } from "../journal/journal.ts";
import type { TaskQueries } from "../projection/tasks.ts";

export class Tasks {
  readonly #journal: Journal;
  readonly #queries: TaskQueries;

  constructor({ journal, queries }: { journal: Journal; queries: TaskQueries }) {
    this.#journal = journal;
    this.#queries = queries;
  }

  /** An item of a file that this session has already started is the same task, whoever reports it again. */
  start(session: SessionId, task: Omit<EventData<"task.started">, "id">, actor: Principal): Task {
    const isSame = ({ file, title, label, turns }: Task) =>
      file !== null && file === task.file && title === task.title && label === task.label && turns === task.turns;
    const begun = this.#queries.list({ session, open: true }).find(isSame);
    if (begun) return begun;
    const id = newTaskId();
    this.#journal.append({ type: "task.started", actor, session, data: { ...task, id } });
    return this.get(id);
  }

  /** A task that is ended twice has ended once. */
  end(id: string, { outcome, why }: { outcome: TaskOutcome; why: string | null }, actor: Principal): Task {
    const { session, outcome: known } = this.get(id);
    if (known === null) this.#journal.append({ type: "task.ended", actor, session, data: { id, outcome, why } });
    return this.get(id);
  }

  get(id: string): Task {
    const task = this.#queries.get(id);
    if (task) return task;
    throw new HoldfastError("task_not_found", `no task has the id ${JSON.stringify(id)}`, {
      hint: "it was removed with its session, or never existed",
    });
  }

  list(filter: Parameters<TaskQueries["list"]>[0]): Task[] {
    return this.#queries.list(filter);
  }
}
