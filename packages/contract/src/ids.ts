import * as z from "zod/mini";
import { newId } from "./new-id.ts";

/**
 * Ten lower-case letters and digits, the first a letter: safe as a file name, as a tmux session name and in a shell, and random from the first
 * character so that short prefixes are unique.
 */
export const SessionId = z
  .string()
  .check(z.regex(/^[a-z][a-z2-7]{9}$/))
  .brand<"SessionId">();
export type SessionId = z.infer<typeof SessionId>;

/** Same format as a session id. */
export const WorkspaceId = z
  .string()
  .check(z.regex(/^[a-z][a-z2-7]{9}$/))
  .brand<"WorkspaceId">();
export type WorkspaceId = z.infer<typeof WorkspaceId>;

/** Same format as a session id. */
export const TournamentId = z
  .string()
  .check(z.regex(/^[a-z][a-z2-7]{9}$/))
  .brand<"TournamentId">();
export type TournamentId = z.infer<typeof TournamentId>;

/** An agent's own id of a conversation. It becomes part of paths and patterns, and agents report it themselves. */
export const CONVERSATION_ID = /^\w[\w.-]{0,199}$/;

/** Number of a run within its session, from 1. */
export const RunNumber = z.int().check(z.positive());

/**
 * An acting identity: `user:NAME`, `token:NAME`, `session:ID`, `rule:NAME` for a rule of config.toml, or `daemon` for observations of Holdfast
 * itself.
 */
export const Principal = z
  .string()
  .check(z.regex(/^(daemon|(user|token|session|rule):[^\s]+)$/))
  .brand<"Principal">();
export type Principal = z.infer<typeof Principal>;

export const newSessionId = () => sessionId(newId());
export const newWorkspaceId = () => workspaceId(newId());
export const newTournamentId = () => tournamentId(newId());
export const newTaskId = newId;

/** These take text that Holdfast itself wrote, such as a row of its database. Text from elsewhere is parsed with the schemas. */
export const sessionId = (text: string) => text as SessionId;
export const workspaceId = (text: string) => text as WorkspaceId;
export const tournamentId = (text: string) => text as TournamentId;
export const principalOf = (text: string) => text as Principal;

/** The actor of events that nobody requested. */
export const DAEMON = principalOf("daemon");
export const userPrincipal = (name: string) => principalOf(`user:${name}`);
export const tokenPrincipal = (name: string) => principalOf(`token:${name}`);
export const rulePrincipal = (name: string) => principalOf(`rule:${name}`);
export const sessionPrincipal = (id: SessionId) => principalOf(`session:${id}`);

/** The session behind a principal, if it is one. */
export function sessionOf(principal: Principal): SessionId | undefined {
  const id = /^session:(.+)$/.exec(principal)?.[1];
  return id === undefined ? undefined : sessionId(id);
}
