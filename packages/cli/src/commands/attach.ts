import { HoldfastError } from "@holdfast/contract/errors";
import { attachThrough, follow, talkTo } from "../attach/on-terminal.ts";
import { thisTerminal } from "../attach/this-terminal.ts";
import type { Command, Context } from "../command.ts";
import { remoteUrl } from "../connection/running.ts";
import { oneName } from "../session/select.ts";
import { newsOf } from "../session/viewed.ts";

export const command: Command = {
  name: "attach",
  showsTerminal: true,
  summary: "attach to a session; Ctrl+\\ detaches and leaves it running",
  stops: true,
  section: "Attach to a session",
  usage: "NAME [--read-only | --take]",
  description:
    "Your terminal connects to the session directly; Holdfast does not sit between your keys and the program. Several terminals can be attached at once. One of them drives: its input reaches the program, and the session has its size. The others watch. When the driver leaves, the terminal that has been attached longest drives; see holdfast control.\n\nInside a session, attach moves the session's terminal to one of its children. HOLDFAST_AS=owner holdfast attach NAME moves it to any session, as yourself.",
  flags: {
    "read-only": { summary: "watch only: your input is ignored, and your window does not resize the session", short: "r" },
    take: { summary: "drive, even if another terminal does; for your own sessions, and for owners" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast attach demo", "attach; Ctrl+\\ detaches"],
    ["holdfast attach demo --read-only", "watch only"],
    ["holdfast attach demo --take", "take over from the current driver"],
  ],
  async run(context) {
    const ref = (await comingBack(context)) ?? oneName(context, "attach NAME");
    const readOnly = context.flags.has("read-only");
    const take = context.flags.has("take");
    if (readOnly && take) throw new HoldfastError("usage", "--read-only and --take cannot be used together");
    // A terminal that was moved here from another session is the one to attach, even if it runs inside a session itself.
    const from = process.env.HOLDFAST_MOVED ? null : (process.env.HOLDFAST_RUN ?? null);
    const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;
    if (!hasTerminal && !context.json) {
      throw new HoldfastError("not_a_terminal", "attach needs a terminal", { hint: `read the output: holdfast logs ${ref}` });
    }
    const url = remoteUrl();
    if (url !== undefined && context.json) {
      throw new HoldfastError("usage", `attach --json works only on the session's own machine, and this daemon is ${url}`, {
        hint: "omit --json to attach through that daemon",
      });
    }
    if (url !== undefined) return attachThrough(context, url, { ref, readOnly, take });
    const attaching = context.client.call("attachSession", {
      params: { ref },
      body: { readOnly, take, from: context.json ? null : from, ...(context.json ? {} : { client: thisTerminal() }) },
    });
    if (context.json) {
      process.stdout.write(`${JSON.stringify(await attaching)}\n`);
      return 0;
    }
    const [plan, digest] = await Promise.all([attaching.catch(inConversation), newsOf(context, ref)]);
    return plan ? follow(context, plan, digest) : talkTo(context, ref);
  },
};

/** A session without a terminal is opened as a conversation. */
function inConversation(error: unknown): undefined {
  if (!(error instanceof HoldfastError) || error.code !== "has_no_terminal") throw error;
}

/** After a dropped ssh connection, returns the session that this terminal was attached to. */
async function comingBack(context: Context): Promise<string | undefined> {
  const { HOLDFAST_ATTACHMENT: mark, HOLDFAST_REATTACH: isBack } = process.env;
  return mark && isBack ? (await import("../far/where-it-was.ts")).whereItWas(context, mark) : undefined;
}
