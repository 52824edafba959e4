/** Records the first prompt that an agent reports, for example one typed on its screen. It says what a session without an objective is about. */
import { DAEMON } from "../../access/principal.ts";
import type { StatusFollower } from "./agent-status.ts";

/** A list shows one line of it. */
const LONGEST = 500;

export const firstPrompt: StatusFollower = ({ record: { id, run, objective, firstPrompt: known }, signal }) => {
  const text = signal?.prompt?.trim().slice(0, LONGEST).toWellFormed();
  if (!text || objective !== null || known !== null) return [];
  return [{ type: "session.first_prompted", actor: DAEMON, session: id, data: { run, text } }];
};
