import type { Screen, SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import type { ScreenChannel } from "../agent/dialog.ts";
import { Profiles } from "../agent/profiles/index.ts";
import type { Host } from "../host/host.ts";
import { answerByKeys, type Pressed } from "./by-keys.ts";

const DIALOG = "Do you want to run touch x? [y/n]";
const channel = new Profiles().get("demo").approvals?.screen as ScreenChannel;

/** `screens`: the first screen, and one after each key. */
async function allow(...screens: string[][]): Promise<{ pressed: Pressed; keys: number }> {
  let keys = 0;
  const host = {
    screen: async () => ({ lines: screens[Math.min(keys, screens.length - 1)] }) as Screen,
    press: async () => {
      keys++;
      return { waiting: 0 };
    },
  } as unknown as Host;
  const run = { session: "aaaaaaaaaa" as SessionId, run: 1 };
  return { pressed: await answerByKeys({ host, run, channel, dialog: DIALOG, decision: "allow", pressing() {} }), keys };
}

test("a dropped key is pressed again, but not in a following dialog with the same text", async () => {
  const [heard, deaf, again, gone] = await Promise.all([
    allow([DIALOG], [">"]),
    allow([DIALOG], [DIALOG], [">"]),
    allow([DIALOG], ["touch x: done", DIALOG]),
    allow([">"]),
  ]);
  expect(heard).toEqual({ pressed: "taken", keys: 1 });
  expect(deaf).toEqual({ pressed: "taken", keys: 2 });
  expect(again).toEqual({ pressed: "taken", keys: 1 });
  expect(gone).toEqual({ pressed: "gone", keys: 0 });
});
