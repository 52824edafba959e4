/** Waiting for other sessions. */
import type { Session } from "@holdfast/contract/session/session";
import { hasEnded } from "@holdfast/contract/session/status";
import type { HoldfastClient } from "@holdfast/sdk/client";
import * as z from "zod/mini";
import { brief } from "../brief.ts";
import { patience, say, tool, USUAL_WAIT_MS } from "../tool.ts";
import { eventually, type Look } from "../waiting.ts";

const UNTIL = ["settled", "idle", "waiting", "ended"] as const;
type Until = (typeof UNTIL)[number];

/** Events after which the condition is checked again. */
const CHANGES = [
  "session.status_changed",
  "session.started",
  "session.ended",
  "session.removed",
  "session.run_created",
  "session.restart_abandoned",
  "message.replied",
  "message.failed",
  "message.cancelled",
  "message.settled",
];

/** Interval of progress reports, which restart the time-out of clients that passed a progress token. */
const ALIVE_MS = 10_000;

/** An agent with a first prompt on its command line shows an idle screen before it begins. */
const BEGINS_MS = 30_000;

export const WAITING_TOOLS = [
  tool({
    name: "wait_for",
    description:
      "Wait until sessions reach a state: settled (turn finished, waiting for a person, or ended), idle, waiting (for a person), ended. Returns reached: false on timeout; call it again to continue waiting.",
    reads: true,
    input: z.object({
      names: say(z.array(z.string()).check(z.minLength(1), z.maxLength(100)), "session names or ids"),
      until: say(z._default(z.enum(UNTIL), "settled"), "the state to wait for"),
      any: say(z._default(z.boolean(), false), "return when one of them has reached it"),
      timeout_ms: patience(USUAL_WAIT_MS, "maximum wait"),
    }),
    async run({ names, until, any, timeout_ms: timeoutMs }, { client, signal, tell }) {
      const over = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      let last: Session[] = [];
      const say = () => tell(last.map(({ name, status }) => `${name} is ${status}`).join(", "));
      const alive = setInterval(say, ALIVE_MS);
      const look = async (): Promise<Look<Session[]>> => {
        const { cursor, sessions } = await client.call("listSessions", { query: { names } });
        const before = JSON.stringify(last.map(({ status }) => status));
        last = sessions;
        if (before !== JSON.stringify(sessions.map(({ status }) => status))) say();
        const there = await Promise.all(sessions.map((session) => isThere(client, session, until)));
        const isSo = any ? there.some(Boolean) : there.every(Boolean);
        return { cursor, found: isSo ? sessions : undefined };
      };
      try {
        const one = names.length === 1 ? names[0] : undefined;
        const found = await eventually(client, { look, over, session: one, types: CHANGES });
        return { reached: found !== undefined, sessions: (found ?? last).map(brief) };
      } finally {
        clearInterval(alive);
      }
    },
  }),
];

async function isThere(client: HoldfastClient, session: Session, until: Until): Promise<boolean> {
  const { status, restartAt } = session;
  const isOver = hasEnded(status) && restartAt === null;
  if (until === "ended" || isOver) return isOver;
  if (until === "waiting") return status === "waiting";
  if (until === "settled" && status === "waiting") return true;
  if (session.kind === "shell") return false;
  return status === "idle" && !(await isToldMore(client, session));
}

/** True if the idle session is about to receive a message, and so is not done. */
async function isToldMore(client: HoldfastClient, session: Session): Promise<boolean> {
  const isBeginning = session.turns === 0 && session.objective !== null && session.kind === "terminal";
  if (isBeginning && Date.now() - Date.parse(session.createdAt) < BEGINS_MS) return true;
  const query = { session: session.id, state: ["queued", "injecting", "turn_started"] as ("queued" | "injecting" | "turn_started")[] };
  const { messages } = await client.call("listMessages", { query });
  return messages.length > 0;
}
