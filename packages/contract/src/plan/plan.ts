/** Records of `apply FILE`: what it created from a file, so that the next `apply` recognizes it. */
import * as z from "zod/mini";
import { SessionId } from "../ids.ts";
import { Time } from "../session/session.ts";

const file = z.string().check(z.minLength(1, "name a file"), z.maxLength(4096, "a file path has at most 4096 characters"));

/** The file's value for each key: as JSON, or a fingerprint of a long or secret value. */
const said = z.record(
  z.string().check(z.maxLength(1000)),
  z.string().check(z.maxLength(10_000, "a declaration has at most 10,000 characters per key")),
);

const paths = z.array(z.string().check(z.maxLength(1000))).check(z.maxLength(1000));

/** A session that the file declares. */
const DeclaredPeer = z.object({
  name: z.string().check(z.maxLength(1000)),
  /** Null: the role determines the agent. */
  agent: z.nullable(z.string().check(z.maxLength(1000))),
  role: z.nullable(z.string().check(z.maxLength(10_000))),
  objective: z.nullable(z.string().check(z.maxLength(10_000))),
  groups: paths,
  /** The groups that it coordinates. */
  coordinates: paths,
});
export type DeclaredPeer = z.infer<typeof DeclaredPeer>;

/** For a session that a file declares. `peers`: all sessions that the file puts into groups, including this one, even if they do not exist yet. */
export const PlanOrigin = z.object({
  file,
  said,
  peers: z.optional(z.array(DeclaredPeer).check(z.maxLength(1000, "a file declares at most 1,000 sessions"))),
});

const Place = z.object({
  file,
  what: z.enum(["session", "group", "value"]),
  /** A session's id or a group's path; for a value, the path of its group. */
  ref: z.string().check(z.minLength(1), z.maxLength(1000)),
  /** Key of a value. */
  key: z.nullable(z.string().check(z.maxLength(1000))),
});

export const NewDeclaration = z.extend(Place, {
  /** Name in the file. */
  name: z.string().check(z.maxLength(1000)),
  said,
});
export type NewDeclaration = z.infer<typeof NewDeclaration>;

export const Declaration = z.extend(NewDeclaration, {
  /** When it was first declared. */
  at: Time,
  /** The session's current name, if it exists. */
  session: z.nullable(z.object({ id: SessionId, name: z.string() })),
});
export type Declaration = z.infer<typeof Declaration>;

export const Undeclared = Place;
export type Undeclared = z.infer<typeof Undeclared>;

/** These events belong to no session, because a declaration outlives a pruned session. */
export const PLAN_EVENTS = {
  /** Recorded together with the start of a session, and before a group or value is created. A later `apply` creates what is missing. */
  "plan.declared": NewDeclaration,
  /** Removed, because the file no longer declares it. */
  "plan.forgotten": Undeclared,
} as const;
