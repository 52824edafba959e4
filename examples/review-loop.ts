/**
 * One agent works and another reviews, until the reviewer approves. Both conversations last for all rounds, so each agent remembers the
 * earlier ones.
 *
 *   AGENT=claude REVIEWER=codex node review-loop.ts 'add input validation to src/form.ts' 'Are all fields checked, and tested?'
 */
import assert from "node:assert/strict";
import { connect } from "holdfast/sdk";

const MOST_ROUNDS = 4;

const [task = "", criteria = "Is it correct, and tested?"] = process.argv.slice(2);
const agent = process.env.AGENT ?? "claude";
const reviewer = process.env.REVIEWER ?? agent;

using holdfast = await connect();

// Both sessions are removed in any case.
const sessions: string[] = [];
const say = async (who: { agent: string } | { session: string }, prompt: string) => {
  const result = await holdfast.query({ ...who, prompt, keep: true, onApproval: () => "allow" }).result;
  if (!sessions.includes(result.session)) sessions.push(result.session);
  return result;
};

let approved = false;
let rounds = 0;
try {
  const work = await say({ agent }, task);
  let review = { session: "", text: "" };
  while (!approved && rounds < MOST_ROUNDS) {
    rounds++;
    const question = `Review what was just done here for: ${task}\n${criteria}\nAnswer APPROVED if nothing is to be changed, else say what is.`;
    review = await say(review.session === "" ? { agent: reviewer } : { session: review.session }, question);
    approved = /\bAPPROVED\b/.test(review.text);
    console.log(`round ${rounds}: ${approved ? "approved" : review.text.trim().slice(0, 200)}`);
    if (!approved) await say({ session: work.session }, `A reviewer says:\n${review.text}\nChange that.`);
  }
} finally {
  for (const session of sessions) await holdfast.sessions.remove(session, { force: true });
}

assert.ok(approved || rounds === MOST_ROUNDS);
const left = await holdfast.sessions.list({ all: true });
assert.ok(!left.some(({ id }) => sessions.includes(id)));
process.exitCode = approved ? 0 : 1;
