import type { Approval } from "@holdfast/contract/approval";
import { HoldfastError } from "@holdfast/contract/errors";
import type { AnyEvent } from "@holdfast/contract/events";
import type { Decision } from "@holdfast/contract/status";
import { visible } from "@holdfast/contract/visible";
import { shellWord } from "@holdfast/platform/shell";
import { approvalTable, describeApproval, outcomeOf } from "../approval/text.ts";
import type { Command, Context } from "../command.ts";
import { followEvents } from "../connection/follow-events.ts";
import { writeOut } from "../console/write-out.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "approvals",
  summary: "list and answer permission requests",
  onlyReads: true,
  section: "Send and answer",
  onlyPrints: true,
  follows: ({ args }) => args[0] === "watch",
  usage: "[ls [--all] | show [ID] | allow [ID…] [--always] | deny [ID…] [--reason TEXT] | answer [ID] TEXT | watch] [--session NAME]",
  description:
    "The longest-waiting request is first. ID is an id, the beginning of one, or the name of a session with exactly one open request. A request answered on the agent's own screen disappears from the list. Rules in config.toml can answer requests: [[approvals.rules]].\n\nFolder-trust dialogs are listed too; one answer covers all worktrees that Holdfast makes of that repository. answer ID takes the text or the number of any choice in such a dialog. To log in, use attach.",
  arguments: "approvals",
  flags: {
    all: { summary: "with ls: include answered requests" },
    session: { value: "NAME", summary: "with ls and watch: requests of this session", complete: "sessions" },
    always: { summary: "with allow: also allow similar requests in future; only in conversations whose agent offers it" },
    reason: { value: "TEXT", summary: "with deny: the reason, sent to the agent", complete: "nothing" },
  },
  examples: [
    ["holdfast approvals", "list open requests with tool, arguments, directory and age"],
    ["holdfast approvals show fix-login", "show one request in full"],
    ["holdfast approvals allow", "allow the only open request, once"],
    ["holdfast approvals allow fix-login", "allow the request of one session, once"],
    ["holdfast approvals deny k3f --reason 'use the staging database'", "deny a request; the agent reads the reason and continues"],
    ["holdfast approvals answer fix-login Blue", "answer a question"],
    ["holdfast approvals answer fix-login 2", "pick the second choice of a dialog"],
    ["holdfast approvals watch", "print requests and answers as they happen"],
  ],
  async run(context) {
    const [verb = "ls", ...refs] = context.args;
    const { flags } = context;
    const [first, ...more] = refs;
    if (flags.text("reason") !== undefined && verb !== "deny") throw misplaced("reason", "deny");
    if (flags.has("all") && verb !== "ls") throw misplaced("all", "ls");
    if (flags.has("always") && verb !== "allow") throw misplaced("always", "allow");
    if (flags.text("session") !== undefined && verb !== "ls" && verb !== "watch") throw misplaced("session", "ls and watch");
    if (verb === "ls" && first === undefined) return list(context);
    if (verb === "watch" && first === undefined) return watch(context);
    if (verb === "show" && more.length === 0) return show(context, first ?? (await onlyOne(context, "show")));
    if (verb === "allow" || verb === "deny") {
      const ids = first === undefined ? [await onlyOne(context, verb)] : refs;
      return answer(context, ids, { decision: verb, reason: flags.text("reason"), always: flags.has("always") });
    }
    if (verb === "answer" && first !== undefined) {
      if (more.length > 0) return answer(context, [first], { decision: verb, reason: more.join(" ") });
      return answer(context, [await onlyOne(context, verb, first)], { decision: verb, reason: first });
    }
    throw wrong();
  },
};

function misplaced(flag: string, verbs: string): HoldfastError {
  return new HoldfastError("usage", `--${flag} is for approvals ${verbs}`, { hint: "see: holdfast approvals --help" });
}

function wrong(): HoldfastError {
  return new HoldfastError(
    "usage",
    "expected ls, show [ID], allow [ID…] [--always], deny [ID…] [--reason TEXT], answer [ID] TEXT, or watch",
    {
      hint: "see: holdfast approvals --help",
    },
  );
}

/** The only open request, for a command without a name. `text` is the answer, which may be a mistyped name. */
async function onlyOne(context: Context, verb: string, text?: string): Promise<string> {
  const { approvals } = await waiting(context);
  const [only, ...more] = approvals;
  if (only === undefined)
    throw new HoldfastError("approval_not_found", "no request is open", { hint: "list all: holdfast approvals --all" });
  const named = approvals.find(({ id, name, session }) => text !== undefined && (text === name || text === session || isIdOf(text, id)));
  if (named)
    throw new HoldfastError("usage", `the answer to ${plain(named.name)} is missing`, {
      hint: `holdfast approvals answer ${plain(text ?? "")} TEXT`,
    });
  if (more.length === 0) return only.id;
  const reason = context.flags.text("reason");
  const given = [
    ...(text === undefined ? [] : [shellWord(text)]),
    ...(reason === undefined ? [] : ["--reason", shellWord(reason)]),
    ...(context.flags.has("always") ? ["--always"] : []),
  ];
  const lines = approvals.flatMap(({ id, name, text: wants }) => [
    `${name}: ${visible(wants)}`,
    `  holdfast approvals ${[verb, id, ...given].join(" ")}`,
  ]);
  throw new HoldfastError("approval_ambiguous", [`${approvals.length} requests are open; name one:`, ...lines].join("\n"));
}

/** Shorter texts are answers: `2` is the second choice. */
const LEAST_PREFIX = 3;

function isIdOf(text: string, id: string): boolean {
  return text.length >= LEAST_PREFIX && id.startsWith(text);
}

async function list(context: Context): Promise<number> {
  const { approvals } = await waiting(context, context.flags.has("all"));
  if (context.json) await writeOut(`${JSON.stringify(approvals)}\n`);
  else await writeOut(approvals.length === 0 ? "No open requests.\n" : `${approvalTable(approvals, Date.now()).join("\n")}\n`);
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

/** Answers each request on its own, and continues after a failure. Throws the first failure at the end. */
async function answer(
  context: Context,
  ids: readonly string[],
  body: { decision: Decision; reason: string | undefined; always?: boolean },
): Promise<number> {
  const answered: Approval[] = [];
  let failed: unknown;
  for (const id of ids) {
    try {
      // A name may match another request by the time of the answer. The digest ties the answer to the request read here.
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

/** Events after which an approval is open. */
const COME = ["approval.requested", "approval.reopened"];

/** Prints open approvals, then new ones and their outcomes, one line each. Reconnects when the daemon dies or is replaced. */
async function watch(context: Context): Promise<number> {
  const { cursor: after, approvals } = await waiting(context);
  for (const approval of approvals) await tell(context, approval);
  const query = { session: context.flags.text("session"), type: [...COME, "approval.answered", "approval.resolved"] };
  const onEvent = async ({ type, data }: AnyEvent) => {
    const id = String((data as { id?: unknown }).id);
    const approval = await context.client.call("getApproval", { params: { id } }).catch(unlessGone);
    // If the request is already resolved, another event follows.
    if (approval && (approval.status !== "open" || COME.includes(type))) await tell(context, approval);
  };
  await followEvents(context, { query, after, onEvent });
  return 0;
}

/** The session was removed, or the request is not visible to this principal. Other errors are retried from the same cursor. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof HoldfastError) || error.code !== "approval_not_found") throw error;
}

function tell(context: Context, approval: Approval): Promise<void> {
  return writeOut(`${context.json ? JSON.stringify(approval) : outcomeOf(approval)}\n`);
}
