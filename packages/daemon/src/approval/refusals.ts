/** Errors for answers that are not accepted. */
import { type Decision, HoldfastError } from "@holdfast/contract";
import type { ApprovalRecord } from "../projection/approvals.ts";

const ENDS: Readonly<Record<string, string>> = {
  allowed: "was already allowed",
  denied: "was already denied",
  answered: "was already answered",
  elsewhere: "was answered on the agent's own screen",
  withdrawn: "is no longer open: its turn was interrupted, or its hook ended",
  timed_out: "waited too long; the agent now asks on its own screen",
  run_ended: "ended with its run",
};

export function over({ id, status, answeredBy, name }: ApprovalRecord): HoldfastError {
  const by = answeredBy === null ? "" : ` by ${answeredBy}`;
  return new HoldfastError("approval_over", `approval ${id} of ${name} ${ENDS[status] ?? "is over"}${by}`, {
    hint: "list approvals: holdfast approvals",
  });
}

export function changed({ id, name }: ApprovalRecord): HoldfastError {
  return new HoldfastError("approval_changed", `${name} has changed its request since it was shown`, {
    hint: `read it again: holdfast approvals show ${id}`,
  });
}

export function noReason({ agent, name }: ApprovalRecord): HoldfastError {
  return new HoldfastError("approval_unanswerable", `${agent} is answered with keys here and takes no reason`, {
    hint: `omit --reason, and send it afterwards: holdfast send ${name} TEXT`,
  });
}

export function noChoice({ id, name }: ApprovalRecord, wanted: string, choices: readonly string[]): HoldfastError {
  return new HoldfastError("usage", `the dialog of ${name} has no choice ${JSON.stringify(wanted)}`, {
    hint: `pass the text or the number of a choice to holdfast approvals answer ${id}: ${choices.join("; ")}`,
  });
}

export function onlyOnce({ agent, name }: ApprovalRecord): HoldfastError {
  return new HoldfastError("approval_unanswerable", `${agent} offers no "always" here`, {
    hint: `allow it once, write a rule (holdfast approvals --help), or answer it there: holdfast attach ${name}`,
  });
}

/** The agent may still take the keys when it reads again. */
export function notTaken({ name, agent }: ApprovalRecord): HoldfastError {
  return new HoldfastError("approval_unanswerable", `${name} (${agent}) ignored the pressed keys: its dialog is still open`, {
    hint: `check its screen: holdfast screen ${name}; or answer it there: holdfast attach ${name}`,
  });
}

/** The hook received the answer, but the dialog is still shown. */
export function noEffect({ name, agent, id }: Pick<ApprovalRecord, "name" | "agent" | "id">): HoldfastError {
  return new HoldfastError("approval_unanswerable", `${name} (${agent}) did not accept the answer: it still asks on its own screen`, {
    hint: `it is open again: holdfast approvals show ${id}; or answer it there: holdfast attach ${name}`,
  });
}

/** A request can be allowed only where all of it is shown. */
export function notAllShown({ name, agent }: ApprovalRecord): HoldfastError {
  return new HoldfastError("approval_unanswerable", `${name} (${agent}) asks for more than its screen shows: answer it only there`, {
    hint: `read all of it and answer: holdfast attach ${name}`,
  });
}

export function tooLong({ id, name, agent }: ApprovalRecord): HoldfastError {
  return new HoldfastError("approval_unanswerable", `${name} (${agent}) asks for more than can be shown, so it cannot be allowed here`, {
    hint: `deny it and ask for smaller steps: holdfast approvals deny ${id}; or allow it by a rule for the tool and the path (holdfast approvals --help)`,
  });
}

export function unanswerable(approval: ApprovalRecord, decision: Decision): HoldfastError {
  const { id, name, agent } = approval;
  if (approval.for === "login") {
    return new HoldfastError("approval_unanswerable", `${name} (${agent}) waits for a login on its own screen`, {
      hint: `log in there: holdfast attach ${name}`,
    });
  }
  if (approval.for === "question" && decision === "allow") {
    return new HoldfastError("approval_unanswerable", `${id} is a question and needs an answer`, {
      hint: `answer it: holdfast approvals answer ${id} TEXT`,
    });
  }
  if (decision === "answer" && approval.for !== "question") {
    return new HoldfastError("approval_unanswerable", `${id} is not a question: allow or deny it`, {
      hint: `allow it: holdfast approvals allow ${id}`,
    });
  }
  return new HoldfastError("approval_unanswerable", `${name} (${agent}) accepts that answer only on its own screen`, {
    hint: `answer it there: holdfast attach ${name}`,
  });
}
