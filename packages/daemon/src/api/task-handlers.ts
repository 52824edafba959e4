import type { SessionQueries } from "../projection/session-queries.ts";
import type { Tasks } from "../task/tasks.ts";
import type { Handlers } from "./bind.ts";
import type { Gate } from "./gate.ts";

export type TaskHandlers = Pick<Handlers, "startTask" | "endTask" | "listTasks">;

export function taskHandlers({ tasks, queries, gate }: { tasks: Tasks; queries: SessionQueries; gate: Gate }): TaskHandlers {
  return {
    startTask: ({ params, body }, { actor }) => tasks.start(queries.resolve(params.ref).id, body, actor),
    endTask: ({ params, body }, { actor, reach }) => {
      if (reach !== undefined) gate.resolve(reach, "endTask", tasks.get(params.id).session);
      return tasks.end(params.id, body, actor);
    },
    listTasks: ({ query: { session, file, open } }, { reach }) => {
      const within = reach === undefined ? undefined : queries.descendants(reach);
      const of =
        session === undefined ? undefined : reach === undefined ? queries.resolve(session).id : gate.resolve(reach, "listTasks", session);
      return { tasks: tasks.list({ session: of, file, open, within }) };
    },
  };
}
