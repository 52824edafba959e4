import { HoldfastError } from "@holdfast/contract/errors";
import type { ValueChange } from "@holdfast/contract/group/group";
import { Patience } from "@holdfast/sdk/patience";
import type { Command, Context } from "../../command.ts";
import { given } from "../../group/arguments.ts";
import { callers } from "../../group/text.ts";
import { wholeNumber } from "../../session/select.ts";
import { color } from "../../text/color.ts";
import { parseDuration } from "../../text/duration.ts";
import { cut } from "../../text/fit.ts";
import { plain } from "../../text/plain.ts";

/** Wait of one request; shorter than the time after which a daemon counts as unresponsive. */
const ONE_WAIT_MS = 4000;

export const command: Command = {
  name: "group watch",
  summary: "print changes of shared values as they happen",
  follows: () => true,
  usage: "GROUP [--after N] [--once] [--timeout 30s]",
  description:
    "Prints changes in the group and its parents from now on. With --after, it first prints the latest change of each key since that revision. Watching continues when the daemon is replaced. With --timeout it ends when the time is over, with exit code 16 if nothing changed.",
  onlyReads: true,
  arguments: "groups",
  flags: {
    after: { value: "N", summary: "include changes since this revision; 0: all values", complete: "nothing" },
    once: { summary: "exit after the first change" },
    timeout: { value: "TIME", summary: "time limit (default: none)", complete: "nothing" },
  },
  examples: [
    ["holdfast group watch team", "watch until Ctrl+C"],
    ["holdfast group watch team --json", "print one change per line, for a program"],
    ["holdfast group watch team --once --timeout 10m", "wait for the next change"],
  ],
  async run(context) {
    const [group = ""] = given(context, "watch", "GROUP");
    const timeout = context.flags.text("timeout");
    const until = performance.now() + (timeout === undefined ? Number.POSITIVE_INFINITY : parseDuration(timeout, "--timeout"));
    const patience = new Patience();
    let told = 0;
    const asked = wholeNumber(context.flags, "after");
    // True once the daemon has accepted the revision.
    let isKnown = asked === undefined;
    let after = asked ?? (await context.client.call("listValues", { params: { group } })).revision;
    for (;;) {
      try {
        const waitMs = Math.ceil(Math.max(0, Math.min(ONE_WAIT_MS, until - performance.now())));
        const { changes, revision } = await context.client.call("watchValues", { params: { group }, query: { after, waitMs } });
        patience.renew();
        isKnown = true;
        after = revision;
        told += changes.length;
        await print(context, group, changes);
        if (told > 0 && context.flags.has("once")) return 0;
      } catch (error) {
        if (HoldfastError.from(error).code !== "cursor_gone") await patience.bear(error);
        else if (!isKnown) throw error;
        // The journal was restored, and the changes since then are lost. Continue with the current values.
        else after = 0;
      }
      if (performance.now() < until) continue;
      if (told > 0) return 0;
      throw new HoldfastError("timeout", `nothing changed in ${group} within that time`);
    }
  },
};

const LONGEST_VALUE = 100;

async function print(context: Context, group: string, changes: readonly ValueChange[]): Promise<void> {
  if (changes.length === 0) return;
  if (context.json) {
    process.stdout.write(changes.map((change) => `${JSON.stringify(change)}\n`).join(""));
    return;
  }
  const called = await callers(context.client, group);
  for (const { key, value, unset, revision, author, group: of } of changes) {
    const what = unset ? "was unset" : `= ${cut(plain(JSON.stringify(value)), LONGEST_VALUE)}`;
    const where = of === group ? "" : ` in ${plain(of)}`;
    process.stdout.write(`${plain(key)} ${what} ${color("dim", `(revision ${revision}${where}, by ${called(author)})`)}\n`);
  }
}
