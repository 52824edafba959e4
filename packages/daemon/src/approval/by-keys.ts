/**
 * Answers an agent with keys in the dialog on its screen. The exact dialog must be shown in full right before a key is pressed, and be gone
 * afterwards: a stray Enter approves whatever comes next.
 */
import type { Decision } from "@holdfast/contract";
import { type Dialog, dialogOn, type ScreenChannel } from "../agent/dialog.ts";
import { goneWithProgram, type Host, type RunId } from "../host/host.ts";
import { parseKey } from "../host/keys.ts";

/** Time a dialog may take to disappear. Claude Code drops keys in a dialog's first 145 ms: dropped in 14 of 14 tries, later taken in 9 of 9. */
const GOES_MS = 1000;
const LOOK_MS = 100;
const TRIES = 3;

/** `gone`: another dialog is shown, or none. `unsafe`: the dialog is shown, but keys could mean something else. `deaf`: it did not disappear. */
export type Pressed = "taken" | "gone" | "unsafe" | "deaf";

/** `pressing` is called right before the first key. If it throws, no key is pressed. */
export async function answerByKeys(options: {
  host: Host;
  run: RunId;
  channel: ScreenChannel;
  dialog: string;
  decision: Decision;
  pressing(): void;
}): Promise<Pressed> {
  const { host, run, channel, decision } = options;
  const onScreen = async (): Promise<{ dialog: Dialog; all: string } | undefined> => {
    const screen = await host.screen(run);
    const dialog = dialogOn(channel, screen);
    return dialog?.text === options.dialog ? { dialog, all: screen.lines.join("\n") } : undefined;
  };
  const before = await onScreen();
  if (!before) return "gone";
  const keys = decision === "allow" ? before.dialog.allow : decision === "deny" ? channel.keys?.deny : undefined;
  if (!keys || !isSafe(before.dialog, decision)) return "unsafe";
  options.pressing();
  let now: typeof before | undefined = before;
  for (let tried = 0; tried < TRIES; tried++) {
    await host.press(run, keys.map(parseKey));
    const until = performance.now() + GOES_MS;
    do {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      now = await onScreen().catch(goneWithProgram);
      if (!now) return "taken";
    } while (performance.now() < until);
    // The screen changed, so the key was taken. The same dialog is most likely the next request, which is still unanswered.
    if (now.all !== before.all) return "taken";
    if (!isSafe(now.dialog, decision)) return "unsafe";
  }
  return "deaf";
}

function isSafe({ canAllow, canDeny }: Dialog, decision: Decision): boolean {
  return decision === "allow" ? canAllow : canDeny;
}
