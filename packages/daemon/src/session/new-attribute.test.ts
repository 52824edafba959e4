import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attributesOf, EVENTS, newSessionId, requestedOf, Session, SpawnRequest, userPrincipal } from "@holdfast/contract";
import type * as SpecModule from "@holdfast/contract/session/spec";
import { openHome } from "@holdfast/platform";
import { expect, test, vi } from "vitest";
import { Profiles } from "../agent/profiles/index.ts";
import { openDatabase } from "../journal/database.ts";
import { Journal } from "../journal/journal.ts";
import { SessionQueries } from "../projection/session-queries.ts";
import { sessionsProjection } from "../projection/sessions.ts";
import { planOf } from "./run/plan.ts";
import { prepare } from "./run/prepare.ts";
import { readSpec } from "./run/run-files.ts";
import { viewOf } from "./view.ts";

/** The recipe for a new attribute: a line in each schema of this one file, and a column. */
vi.mock("@holdfast/contract/session/spec", async (original) => {
  const z = await import("zod/mini");
  const module = await original<typeof SpecModule>();
  const optional = { scratchNumber: z.optional(z.nullable(z.int())), scratchList: z.optional(z.nullable(z.array(z.string()))) };
  for (const { shape } of [module.SessionSpec, module.RecordedSpec, module.RequestedSpec]) Object.assign(shape, optional);
  return module;
});
const COLUMNS = "ALTER TABLE sessions ADD COLUMN scratch_number INTEGER; ALTER TABLE sessions ADD COLUMN scratch_list TEXT";
const scratch = { scratchNumber: 7, scratchList: ["a", "b"] };

test("a new attribute passes from the request to spec.json, the journal, the record, the view and a fork", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const home = openHome({ HOLDFAST_HOME: join(directory.path, "home") });
  const owner = userPrincipal("tester");
  const asked = { agent: "shell", cwd: directory.path, env: { PATH: "/usr/bin:/bin" }, command: ["true"] };
  const start = (more: object) => {
    const request = SpawnRequest.parse({ ...asked, ...more });
    const plan = planOf(request, { profiles: new Profiles(), programs: "/programs" });
    return prepare(request, { home, plan, host: "tmux", parent: null, owner, isTaken: () => false });
  };
  const { id, attributes } = start({ id: newSessionId(), name: "with", ...scratch });
  const without = start({ id: newSessionId(), name: "without" });
  expect(readSpec(home, id)).toMatchObject(scratch);
  expect(attributesOf(readSpec(home, id) ?? {})).toEqual(attributes);

  const db = openDatabase(":memory:");
  db.exec(COLUMNS);
  const journal = new Journal({ db, projections: [sessionsProjection], machineName: "box" });
  for (const type of ["session.created", "session.rebuilt"] as const)
    expect(Object.keys(EVENTS[type].shape)).toEqual(expect.arrayContaining(Object.keys(scratch)));
  for (const made of [{ id, attributes }, without])
    journal.append({ type: "session.created", actor: owner, session: made.id, data: EVENTS["session.created"].parse(made.attributes) });

  const queries = new SessionQueries(db);
  const record = queries.resolve(id);
  expect(record).toMatchObject(scratch);
  const options = { now: 0, counted: { turns: 0, conversations: [] }, watched: undefined, recordingLimit: 0 };
  expect(Session.parse(viewOf(record, options))).toMatchObject(scratch);
  expect(Session.parse(viewOf(queries.resolve(without.id), options))).toMatchObject({ scratchNumber: null, scratchList: null });
  expect(SpawnRequest.parse({ ...asked, ...requestedOf(record) })).toMatchObject(scratch);
});
