/**
 * Answers permission requests of all sessions by a policy: allows reading, denies dangerous commands, and leaves everything else to
 * people (holdfast approvals). The journal records every answer under this program's name: give the program its own token.
 *
 *   HOLDFAST_TOKEN=$(holdfast token create --scope approver --name bot) node approval-bot.ts
 */
import assert from "node:assert/strict";
import { type Approval, connect, HoldfastError } from "holdfast/sdk";

const DANGEROUS = /\brm -rf\b|\bsudo\b|\bgit push\b|\bcurl\b.*\|\s*(ba)?sh\b/;

function decide({ for: what, text, input }: Approval): "allow" | "deny" | "leave" {
  // Questions are for people.
  if (what === "question") return "leave";
  const words = `${text} ${JSON.stringify(input)}`;
  if (DANGEROUS.test(words)) return "deny";
  return /^(read|list|search|view)\b/i.test(text) ? "allow" : "leave";
}

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

using holdfast = await connect();
console.log(`answering as ${(await holdfast.status()).actor}`);
const answered = { allow: 0, deny: 0, leave: 0 };
try {
  // First the requests that wait already, then new ones; each once, even when the daemon restarts.
  for await (const approval of holdfast.approvals.watch({ signal: stop.signal })) {
    const decision = decide(approval);
    answered[decision]++;
    console.log(`${approval.name}: ${approval.text}: ${decision}`);
    try {
      if (decision === "allow") assert.equal((await approval.allow()).status, "allowed");
      if (decision === "deny") assert.equal((await approval.deny("the policy does not allow that")).status, "denied");
    } catch (error) {
      // A person was faster, or the agent withdrew the request.
      if (!(error instanceof HoldfastError) || error.code !== "approval_over") throw error;
    }
  }
} catch (error) {
  if (!stop.signal.aborted) throw error;
}
console.log(`allowed ${answered.allow}, denied ${answered.deny}, left to people ${answered.leave}`);
