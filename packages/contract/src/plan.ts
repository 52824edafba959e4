/** What `apply FILE` has made of a file, so that the next one knows what is its own. */
import * as z from "zod/mini";
import { SessionId } from "./ids.ts";
import { Time } from "./session.ts";

const file = z.string().check(z.minLength(1, "name a file"), z.maxLength(4096, "a file path has at most 4096 characters"));

/** Of each of its keys what the file said: as JSON, or a fingerprint of what is long or secret. */
const said = z.record(
  z.string().check(z.maxLength(1000)),
  z.string().check(z.maxLength(10_000, "a declaration has at most 10,000 characters per key")),
);

const paths = z.array(z.string().check(z.maxLength(1000))).check(z.maxLength(1000));

/** A session that the file says. */
const DeclaredPeer = z.object({
  name: z.string().check(z.maxLength(1000)),
  /** Null: its role says which. */
  agent: z.nullable(z.string().check(z.maxLength(1000))),
  role: z.nullable(z.string().check(z.maxLength(10_000))),
  objective: z.nullable(z.string().check(z.maxLength(10_000))),
  groups: paths,
  /** Those of them that it is to coordinate. */
  coordinates: paths,
});
export type DeclaredPeer = z.infer<typeof DeclaredPeer>;

/** For a session that is started because a file says so. `peers`: who will be in groups, itself among them, though not all of them are yet. */
export const PlanOrigin = z.object({
  file,
  said,
  peers: z.optional(z.array(DeclaredPeer).check(z.maxLength(1000, "a file declares at most 1,000 sessions"))),
});

const Place = z.object({
  file,
  what: z.enum(["session", "group", "value"]),
  /** A session's id, or a group's path; of a value the path of its group. */
  ref: z.string().check(z.minLength(1), z.maxLength(1000)),
  /** Of a value. */
  key: z.nullable(z.string().check(z.maxLength(1000))),
});

export const NewDeclaration = z.extend(Place, {
  /** What the file calls it. */
  name: z.string().check(z.maxLength(1000)),
  said,
});
export type NewDeclaration = z.infer<typeof NewDeclaration>;

export const Declaration = z.extend(NewDeclaration, {
  /** When it was declared first. */
  at: Time,
  /** Of a session that is there: what it is called now. */
  session: z.nullable(z.object({ id: SessionId, name: z.string() })),
});
export type Declaration = z.infer<typeof Declaration>;

export const Undeclared = Place;
export type Undeclared = z.infer<typeof Undeclared>;

/** Of no session: what a file says outlives what is pruned of one. */
export const PLAN_EVENTS = {
  /** Of a session with its start, of a group and a value before it is made: whoever finds it without them makes them. */
  "plan.declared": NewDeclaration,
  /** It was taken away because the file does not have it any more. */
  "plan.forgotten": Undeclared,
} as const;
