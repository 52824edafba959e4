/** Why an answer is not taken, in words. */
import { type Decision, HoldfastError } from "@holdfast/contract";
import type { ApprovalRecord } from "../projection/approvals.ts";

const ENDS: Readonly<Record<string, string>> = {
  allowed: "was allowed already",
  denied: "was denied already",
  answered: "was answered already",
  elsewhere: "was answered on the agent's own screen",
  withdrawn: "is not wanted any more: its turn was interrupted, or its hook ended",
  timed_out: "waited too long; the agent asks on its own screen now",
  run_ended: "ended with its run",
};

export function over({ id, status, answeredBy, name }: ApprovalRecord): HoldfastError {
  const by = answeredBy === null ? "" : ` by ${answeredBy}`;
  return new HoldfastError("approval_over", `approval ${id} of ${name} ${ENDS[status] ?? "is over"}${by}`, {
    hint: "list what waits: holdfast approvals",
  });
}

export function changed({ id, name }: ApprovalRecord): HoldfastError {
  return new HoldfastError("approval_changed", `${name} asks for something else than was shown`, {
    hint: `look at it again: holdfast approvals show ${id}`,
  });
}

export function noReason({ agent, name, channel }: ApprovalRecord): HoldfastError {
  const how = channel === "protocol" ? "is told yes or no" : "is answered by keys";
  return new HoldfastError("approval_unanswerable", `${agent} ${how} here, and takes no reason so`, {
    hint: `leave --reason out, and tell it afterwards: holdfast send ${name} TEXT`,
  });
}

export function noChoice({ id, name }: ApprovalRecord, wanted: string, choices: readonly string[]): HoldfastError {
  return new HoldfastError("usage", `the dialog of ${name} has no choice ${JSON.stringify(wanted)}`, {
    hint: `holdfast approvals answer ${id} takes the words or the number of one of: ${choices.join("; ")}`,
  });
}

export function onlyOnce({ agent, name }: ApprovalRecord): HoldfastError {
  return new HoldfastError("approval_unanswerable", `${agent} takes leave only for this once, from here`, {
    hint: `allow it once, write a rule (holdfast approvals --help), or answer it there: holdfast attach ${name}`,
  });
}

/** It may still take them, when it reads again. */
export function notTaken({ name, agent }: ApprovalRecord): HoldfastError {
  return new HoldfastError("approval_unanswerable", `${name} (${agent}) has not taken the keys that were pressed: its dialog stands`, {
    hint: `look what it does: holdfast screen ${name}; or answer it there: holdfast attach ${name}`,
  });
}

/** Its hook heard the answer, and its dialog stands. */
export function noEffect({ name, agent, id }: Pick<ApprovalRecord, "name" | "agent" | "id">): HoldfastError {
  return new HoldfastError("approval_unanswerable", `${name} (${agent}) did not take the answer: it still asks on its own screen`, {
    hint: `it is open again: holdfast approvals show ${id}; or answer it there: holdfast attach ${name}`,
  });
}

/** Nobody allows what nobody has seen. */
export function notAllShown({ name, agent }: ApprovalRecord): HoldfastError {
  return new HoldfastError("approval_unanswerable", `${name} (${agent}) asks for more than its screen shows: it is answered only there`, {
    hint: `look at all of it, and answer it: holdfast attach ${name}`,
  });
}

export function tooLong({ id, name, agent }: ApprovalRecord): HoldfastError {
  return new HoldfastError("approval_unanswerable", `${name} (${agent}) asks for more than can be shown, so nobody can allow it here`, {
    hint: `deny it, and have it take smaller steps: holdfast approvals deny ${id}; a rule for the tool and the path can allow it (holdfast approvals --help)`,
  });
}

export function unanswerable(approval: ApprovalRecord, decision: Decision): HoldfastError {
  const { id, name, agent } = approval;
  if (approval.for === "login") {
    return new HoldfastError("approval_unanswerable", `${name} (${agent}) waits for a login, which is done on its own screen`, {
      hint: `log in there: holdfast attach ${name}`,
    });
  }
  if (approval.for === "question" && decision === "allow") {
    return new HoldfastError("approval_unanswerable", `${id} is a question: it wants an answer`, {
      hint: `holdfast approvals answer ${id} TEXT`,
    });
  }
  if (decision === "answer" && approval.for !== "question") {
    return new HoldfastError("approval_unanswerable", `${id} is no question: allow or deny it`, { hint: `holdfast approvals allow ${id}` });
  }
  return new HoldfastError("approval_unanswerable", `${name} (${agent}) takes that answer only on its own screen`, {
    hint: `answer it there: holdfast attach ${name}`,
  });
}
