import type { Principal, SessionId, Task } from "@holdfast/contract";
import { expect, test } from "vitest";
import type { Personas } from "../persona/personas.ts";
import { personaHandlers } from "./persona-handlers.ts";
import { taskHandlers } from "./task-handlers.ts";

const OWN = "aaaaaaaaaa" as SessionId;
const OTHER = "bbbbbbbbbb" as SessionId;

/** The handlers, and the calls they make. */
function open() {
  const asked: unknown[] = [];
  const note =
    (what: string) =>
    (...words: unknown[]) => {
      asked.push([what, ...words]);
      return [] as never;
    };
  const tasks = {
    start: note("start"),
    end: note("end"),
    list: note("list"),
    get: (id: string) => ({ session: id === "mine" ? OWN : OTHER }) as Task,
  };
  const queries = { resolve: (ref: string) => ({ id: ref as SessionId }), descendants: (id: SessionId) => [id] };
  const gate = {
    resolve: (reach: SessionId, _: string, ref: string) => {
      if (ref !== reach) throw new Error(`${ref} is not in reach`);
      return reach;
    },
  };
  return { asked, handlers: taskHandlers({ tasks, queries, gate } as never) };
}

const owner = { actor: "user:me" as Principal, reach: undefined } as never;
const session = { actor: `session:${OWN}` as Principal, reach: OWN } as never;

test("an owner can record and read tasks of any session", () => {
  const { asked, handlers } = open();
  handlers.startTask({ params: { ref: OTHER }, body: { title: "a" } } as never, owner);
  handlers.endTask({ params: { id: "theirs" }, body: { outcome: "done", why: null } } as never, owner);
  handlers.listTasks({ query: { session: OTHER, file: "/f", open: true } } as never, owner);
  handlers.listTasks({ query: { open: false } } as never, owner);
  expect(asked).toEqual([
    ["start", OTHER, { title: "a" }, "user:me"],
    ["end", "theirs", { outcome: "done", why: null }, "user:me"],
    ["list", { session: OTHER, file: "/f", open: true, within: undefined }],
    ["list", { session: undefined, file: undefined, open: false, within: undefined }],
  ]);
});

test("a session reaches only its own tasks and those of its children", () => {
  const { asked, handlers } = open();
  handlers.endTask({ params: { id: "mine" }, body: { outcome: "done", why: null } } as never, session);
  expect(() => handlers.endTask({ params: { id: "theirs" }, body: {} } as never, session)).toThrow(/not in reach/);
  expect(() => handlers.listTasks({ query: { session: OTHER, open: false } } as never, session)).toThrow(/not in reach/);
  handlers.listTasks({ query: { session: OWN, open: false } } as never, session);
  expect(asked.map((each) => (each as unknown[])[0])).toEqual(["end", "list"]);
  expect(asked[1]).toEqual(["list", { session: OWN, file: undefined, open: false, within: [OWN] }]);
});

test("personas are looked up in the caller's directory", () => {
  const asked: unknown[] = [];
  const personas = { list: (where: unknown) => asked.push(where), find: (...words: unknown[]) => asked.push(words) };
  const handlers = personaHandlers(personas as unknown as Personas);
  handlers.listPersonas({ query: { cwd: "/p" } } as never, owner);
  handlers.getPersona({ params: { name: "r" }, query: { cwd: "/p" } } as never, owner);
  expect(asked).toEqual([{ cwd: "/p" }, ["r", { cwd: "/p" }]]);
});
