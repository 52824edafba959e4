/**
 * Answers an agent's start dialog. As in by-keys.ts, the exact dialog must be shown right before a key is pressed, and be gone afterwards. Enter is
 * pressed only when the screen shows the wanted choice as marked.
 */
import { type ShownDialog, type StartDialog, startDialogOn } from "../agent/start-dialog.ts";
import { goneWithProgram, type Host, type RunId } from "../host/host.ts";
import { parseKey } from "../host/keys.ts";
import type { Pressed } from "./by-keys.ts";

/** Claude Code drops keys in a dialog's first 145 ms. A dropped key is pressed again after this time. */
const MOVES_MS = 1000;
const LOOK_MS = 50;
const MOST_PRESSES = 10;

/** `pressing` is called right before the first key. If it throws, no key is pressed. */
export async function answerByChoice(options: {
  host: Host;
  run: RunId;
  dialogs: readonly StartDialog[];
  what: StartDialog["for"];
  dialog: string;
  /** True if these words are those of the wanted choice. */
  isMeant(words: string): boolean;
  pressing(): void;
}): Promise<Pressed> {
  const { host, run, dialogs, what, isMeant } = options;
  const look = async (): Promise<ShownDialog | undefined> => {
    const shown = startDialogOn(dialogs, { what, screen: await host.screen(run) });
    return shown?.text === options.dialog ? shown : undefined;
  };
  let now = await look();
  if (!now) return "gone";
  const lines = now.text.split("\n");
  const wanted = lines.findIndex(isMeant);
  if (wanted < 0 || now.marked === undefined) return "unsafe";
  options.pressing();
  for (let presses = 0; presses < MOST_PRESSES; presses++) {
    const isMarked = now.marked !== undefined && isMeant(now.marked);
    const isAbove = wanted < lines.indexOf(now.marked ?? "");
    await host.press(run, [parseKey(isMarked ? "Enter" : isAbove ? "Up" : "Down")]);
    const next = await changed(() => look().catch(goneWithProgram), now);
    if (!next) return isMarked ? "taken" : "gone";
    if (next.marked === undefined) return "unsafe";
    now = next;
  }
  return "deaf";
}

/** The dialog once its mark has moved or the time is over; undefined once it is gone. */
async function changed(look: () => Promise<ShownDialog | undefined>, before: ShownDialog): Promise<ShownDialog | undefined> {
  const until = performance.now() + MOVES_MS;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const now = await look();
    if (!now || now.marked !== before.marked || performance.now() > until) return now;
  }
}
