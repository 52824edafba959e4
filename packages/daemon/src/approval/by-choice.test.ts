import type { Decision, Screen, SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { Profiles } from "../agent/profiles/index.ts";
import { type StartDialog, startDialogOn } from "../agent/start-dialog.ts";
import { type Host, screenGone } from "../host/host.ts";
import { answerByChoice } from "./by-choice.ts";

const dialogs = new Profiles().get("demo").approvals?.dialogs as StartDialog[];

function dialogAt(mark: number, folder = "/work"): string[] {
  const choices = ["No, exit", "Yes, I trust this folder"].map((choice, i) => `${i === mark ? "❯" : " "} ${choice}`);
  return ["Accessing workspace:", folder, "Do you trust this folder?", ...choices, "Enter to confirm · Esc to cancel"];
}

/** Its program has ended, as one that is not trusted does. */
const ENDED: string[] = [];

/** What it shows at first, and after each key. */
async function answer(decision: Decision, ...screens: string[][]) {
  const pressed: string[] = [];
  const host = {
    screen: async () => {
      const lines = screens[Math.min(pressed.length, screens.length - 1)];
      if (lines === ENDED) throw screenGone();
      return { lines } as Screen;
    },
    press: async (_: unknown, keys: readonly unknown[]) => {
      pressed.push(JSON.stringify(keys));
      return { waiting: 0 };
    },
  } as unknown as Host;
  const run = { session: "aaaaaaaaaa" as SessionId, run: 1 };
  const text = startDialogOn(dialogs, { what: "trust", screen: { lines: dialogAt(0) } })?.text ?? "";
  const how = await answerByChoice({ host, run, dialogs, dialog: text, decision, pressing() {} });
  return { how, keys: pressed.length };
}

test("Enter is pressed only where the choice that is meant is seen to be marked (mend 17)", async () => {
  const done = ["> "];
  expect(await answer("allow", dialogAt(0), dialogAt(1), done)).toEqual({ how: "taken", keys: 2 });
  expect(await answer("deny", dialogAt(0), done)).toEqual({ how: "taken", keys: 1 });
  expect(await answer("allow", dialogAt(1), done)).toEqual({ how: "taken", keys: 1 });
  // It did not hear the first key.
  expect(await answer("allow", dialogAt(0), dialogAt(0), dialogAt(1), done)).toEqual({ how: "taken", keys: 3 });
});

test("nothing is pressed in another dialog than the one that was answered (mend 17)", async () => {
  expect(await answer("allow", dialogAt(1, "/elsewhere"))).toEqual({ how: "gone", keys: 0 });
  expect(await answer("allow", dialogAt(0), dialogAt(1, "/elsewhere"))).toEqual({ how: "gone", keys: 1 });
  expect(await answer("allow", dialogAt(2))).toEqual({ how: "unsafe", keys: 0 });
  expect(await answer("answer", dialogAt(1))).toEqual({ how: "unsafe", keys: 0 });
});

test("a program that ends by the answer has taken it (mend 17)", async () => {
  expect(await answer("deny", dialogAt(0), ENDED)).toEqual({ how: "taken", keys: 1 });
  expect(await answer("allow", dialogAt(0), ENDED)).toEqual({ how: "gone", keys: 1 });
  await expect(answer("deny", ENDED)).rejects.toMatchObject({ code: "session_ended" });
});
