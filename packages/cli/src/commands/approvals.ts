import type { Approval } from "@holdfast/contract/approval";
import { HoldfastError } from "@holdfast/contract/errors";
import type { AnyEvent } from "@holdfast/contract/events";
import type { Decision } from "@holdfast/contract/status";
import { approvalTable, describeApproval, outcomeOf } from "../approvals.ts";
import type { Command, Context } from "../command.ts";
import { followEvents } from "../follow-events.ts";
import { plain } from "../plain.ts";
import { writeOut } from "../write-out.ts";

export const command: Command = {
  name: "approvals",
  summary: "list and answer permission requests",
  onlyReads: true,
  usage: "[ls [--all] | show ID | allow ID… [--always] | deny ID… [--reason TEXT] | answer ID TEXT | watch] [--session NAME]",
  description:
    "The longest-waiting first. ID may be the beginning of an id, or the name of a session that waits for one thing only. What is answered on\nthe agent's own screen meanwhile goes away by itself. Rules in config.toml may answer, [[approvals.rules]].\nDialogs about trust in a folder are here too; one answer holds for all worktrees that Holdfast makes of that repository. answer ID takes the\nwords or the number of any choice that such a dialog shows. Logins are done in attach.",
  arguments: "approvals",
  flags: {
    all: { summary: "with ls: also what is over" },
    session: { value: "NAME", summary: "with ls and watch: only of this session", complete: "sessions" },
    always: { summary: "with allow, of a conversation whose agent offers it: not to be asked for the like again" },
    reason: { value: "TEXT", summary: "with deny: why not, for the agent", complete: "nothing" },
  },
  examples: [
    ["holdfast approvals", "what waits, with tool, arguments, directory and age"],
    ["holdfast approvals show fix-login", "all of it"],
    ["holdfast approvals allow fix-login", "once, this one"],
    ["holdfast approvals deny k3f --reason 'use the staging database'", "the agent reads why, and goes on"],
    ["holdfast approvals answer fix-login Blue", "to a question"],
    ["holdfast approvals answer fix-login 2", "the second choice of a dialog that shows several"],
    ["holdfast approvals watch", "prints what comes, and what becomes of it"],
  ],
  async run(context) {
    const [verb = "ls", ...refs] = context.args;
    const { flags } = context;
    const [first, ...more] = refs;
    if (flags.text("reason") !== undefined && verb !== "deny") throw wrong();
    if (flags.has("all") && verb !== "ls") throw wrong();
    if (flags.has("always") && verb !== "allow") throw wrong();
    if (flags.text("session") !== undefined && verb !== "ls" && verb !== "watch") throw wrong();
    if (verb === "ls" && first === undefined) return list(context);
    if (verb === "watch" && first === undefined) return watch(context);
    if (first === undefined) throw wrong();
    if (verb === "show" && more.length === 0) return show(context, first);
    if (verb === "allow" || verb === "deny")
      return answer(context, refs, { decision: verb, reason: flags.text("reason"), always: flags.has("always") });
    if (verb === "answer" && more.length > 0) return answer(context, [first], { decision: verb, reason: more.join(" ") });
    throw wrong();
  },
};

function wrong(): HoldfastError {
  return new HoldfastError("usage", "say ls, show ID, allow ID [--always], deny ID [--reason TEXT], answer ID TEXT, or watch", {
    hint: "see: holdfast approvals --help",
  });
}

async function list(context: Context): Promise<number> {
  const { approvals } = await waiting(context, context.flags.has("all"));
  if (context.json) await writeOut(`${JSON.stringify(approvals)}\n`);
  else await writeOut(approvals.length === 0 ? "Nothing waits for you.\n" : `${approvalTable(approvals, Date.now()).join("\n")}\n`);
  return 0;
}

function waiting(context: Context, all = false): Promise<{ cursor: string; approvals: Approval[] }> {
  return context.client.call("listApprovals", { query: { session: context.flags.text("session"), all: String(all) } });
}

async function show(context: Context, id: string): Promise<number> {
  const approval = await context.client.call("getApproval", { params: { id } });
  await writeOut(context.json ? `${JSON.stringify(approval)}\n` : `${describeApproval(approval, Date.now()).join("\n")}\n`);
  return 0;
}

/** Each by itself: what comes after one that is over is answered all the same, and the first that could not be is told at the end. */
async function answer(
  context: Context,
  ids: readonly string[],
  body: { decision: Decision; reason: string | undefined; always?: boolean },
): Promise<number> {
  const answered: Approval[] = [];
  let failed: unknown;
  for (const id of ids) {
    try {
      // A name may mean another request by the time it is answered: what is looked up here is what is answered, or nothing is.
      const shown = await context.client.call("getApproval", { params: { id } }).catch(unlessGone);
      const asked = { params: { id: shown?.id ?? id }, body: { ...body, digest: shown?.digest ?? "" } };
      const approval = await context.client.call("answerApproval", asked);
      answered.push(approval);
      if (!context.json) process.stdout.write(`${outcomeOf(approval)}\n`);
    } catch (error) {
      if (ids.length > 1 && failed !== undefined) process.stderr.write(`${plain(id)}: ${plain((error as Error).message)}\n`);
      failed ??= error;
    }
  }
  if (context.json && (answered.length > 0 || failed === undefined)) await writeOut(`${JSON.stringify(answered)}\n`);
  if (failed !== undefined) throw failed;
  return 0;
}

/** After these it waits. */
const COME = ["approval.requested", "approval.reopened"];

/** What waits, then what comes and what becomes of it, one line each. A daemon that dies or is replaced is found again. */
async function watch(context: Context): Promise<number> {
  const { cursor: after, approvals } = await waiting(context);
  for (const approval of approvals) await tell(context, approval);
  const query = { session: context.flags.text("session"), type: [...COME, "approval.answered", "approval.resolved"] };
  const onEvent = async ({ type, data }: AnyEvent) => {
    const id = String((data as { id?: unknown }).id);
    const approval = await context.client.call("getApproval", { params: { id } }).catch(unlessGone);
    // Of a request that is over by now there is another event.
    if (approval && (approval.status !== "open" || COME.includes(type))) await tell(context, approval);
  };
  await followEvents(context, { query, after, onEvent });
  return 0;
}

/** Its session was removed meanwhile, or it is not ours to see; anything else is asked for again, from the same place. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof HoldfastError) || error.code !== "approval_not_found") throw error;
}

function tell(context: Context, approval: Approval): Promise<void> {
  return writeOut(`${context.json ? JSON.stringify(approval) : outcomeOf(approval)}\n`);
}
