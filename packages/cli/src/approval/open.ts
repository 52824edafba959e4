/** Open requests. */
import type { Approval } from "@holdfast/contract/approval/approval";
import { HoldfastError } from "@holdfast/contract/errors";
import { visible } from "@holdfast/contract/visible";
import { shellWord } from "@holdfast/platform/shell";
import type { Context, Flag } from "../command.ts";
import { plain } from "../text/plain.ts";

export const SESSION_FLAG: Flag = { value: "NAME", summary: "requests of this session", complete: "sessions" };

export function openApprovals({ client, flags }: Context, all = false): Promise<{ cursor: string; approvals: Approval[] }> {
  return client.call("listApprovals", { query: { session: flags.text("session"), all: String(all) } });
}

/** The only open request, for a command without a name. `text` is the answer, which may be a mistyped name. */
export async function onlyOne(context: Context, verb: string, text?: string): Promise<string> {
  const { approvals } = await openApprovals(context);
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

/** The session was removed, or the request is not visible to this principal. Other errors are retried from the same cursor. */
export function unlessGone(error: unknown): undefined {
  if (!(error instanceof HoldfastError) || error.code !== "approval_not_found") throw error;
}
