/** The receipt of a message as text, and waiting for its answer. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Message } from "@holdfast/contract/message/message";
import type { Session } from "@holdfast/contract/session/session";
import type { HoldfastClient } from "@holdfast/sdk/client";
import { waitsFor } from "../session/status-text.ts";
import { formatDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";

/** Wait of one request; shorter than the time after which a daemon counts as unresponsive. Then the request is repeated. */
const ONE_WAIT_MS = 4000;

interface Patience {
  timeoutMs: number | undefined;
  /** Gets the reason once the agent waits for a person: nobody may have noticed that the answer depends on them. */
  onWaiting?: ((text: string) => void) | undefined;
}

/** Waits until the message is answered or settled, or the time is over. */
export async function follow(client: HoldfastClient, { id }: Pick<Message, "id">, { timeoutMs, onWaiting }: Patience): Promise<Message> {
  let reason = "";
  const until = performance.now() + (timeoutMs ?? Number.POSITIVE_INFINITY);
  for (;;) {
    const waitMs = Math.ceil(Math.max(0, Math.min(ONE_WAIT_MS, until - performance.now())));
    const message = await client.call("getMessage", { params: { id }, query: { until: "replied", waitMs } });
    if (message.endedAt !== null || message.settled || message.held) return message;
    if (performance.now() >= until) {
      throw new HoldfastError("timeout", `no answer in ${formatDuration(timeoutMs ?? 0)}: ${plain(stateOf(message))}`, {
        hint: `the message stays in progress; check it: holdfast messages --thread ${message.thread}`,
      });
    }
    if (!onWaiting || message.session === null) continue;
    const session = await client.call("getSession", { params: { ref: message.session } });
    const now = waitsFor(session, Date.now());
    const how = session.attention?.for === "rate_limit" ? "" : "; answer it: holdfast approvals";
    if (now !== "" && now !== reason) onWaiting(`${plain(session.name)} waits for ${now}${how}`);
    reason = now;
  }
}

/** One line for the sender. */
export function receipt(message: Message, session: Pick<Session, "status" | "statusAt">): string {
  const since = session.status === "working" && session.statusAt !== null ? Date.now() - Date.parse(session.statusAt) : undefined;
  const line = stateOf(message);
  return plain(since === undefined ? line : line.replace("is working", `is working (${formatDuration(Math.max(0, since))})`));
}

export function stateOf({ id, name, state, why, via, evidence, settled }: Message): string {
  const because = why === null ? "" : `: ${why}`;
  if (state === "injected" && via === "read") return `${name} has read it`;
  if (state === "injected" && !settled) return `${name} has it (${via}); it is not known yet whether a turn starts`;
  if (state === "queued") return `queued for ${name} as ${id}${because}`;
  if (state === "injecting") return `${name} is receiving ${id}${because}`;
  if (state === "injected") return `${name} has it (${via})${because}`;
  if (state === "turn_started") return `${name} is working on it (${evidence})`;
  if (state === "replied") return `${name} has answered`;
  return state === "failed" ? `${name} did not get it${because}` : `${id} was withdrawn`;
}

/** The error for a message without an answer. */
export function outcome(message: Message): HoldfastError {
  const hint = message.hint === null ? {} : { hint: message.hint };
  const { name, why } = message;
  if (message.held) return new HoldfastError("session_ended", plain(`${name}: ${why}`), hint);
  if (message.state === "cancelled") return new HoldfastError("message_failed", `somebody withdrew the message to ${plain(name)}`);
  if (message.state === "failed" && message.known) return new HoldfastError("message_failed", plain(`${name}: ${why}`), hint);
  return new HoldfastError("message_unknown", plain(`${name}: ${why ?? "it is unknown whether it started a turn"}`), hint);
}
