import type { Screen, SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { Profiles } from "../agent/profiles/index.ts";
import { type StartDialog, startDialogOn } from "../agent/start-dialog.ts";
import { type Host, screenGone } from "../host/host.ts";
import { parseKey } from "../host/keys.ts";
import { answerByChoice } from "./by-choice.ts";

const dialogs = new Profiles().get("demo").approvals?.dialogs as StartDialog[];

function dialogAt(mark: number, folder = "/work"): string[] {
  const choices = ["No, exit", "Yes, I trust this folder"].map((choice, i) => `${i === mark ? "❯" : " "} ${choice}`);
  return ["Accessing workspace:", folder, "Do you trust this folder?", ...choices, "Enter to confirm · Esc to cancel"];
}

/** The program has ended, as after a denied trust. */
const ENDED: string[] = [];

/** `screens`: the first screen, and one after each key. */
async function answer(decision: "allow" | "deny" | RegExp, ...screens: string[][]) {
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
  const wanted = typeof decision === "string" ? dialogs[0]?.choices?.[decision] : decision;
  const isMeant = (words: string) => wanted?.test(words) ?? false;
  const how = await answerByChoice({ host, run, dialogs, what: "trust", dialog: text, isMeant, pressing() {} });
  return { how, keys: pressed.length };
}

test("Enter is pressed only when the screen shows the wanted choice as marked (mend 17)", async () => {
  const done = ["> "];
  expect(await answer("allow", dialogAt(0), dialogAt(1), done)).toEqual({ how: "taken", keys: 2 });
  expect(await answer("deny", dialogAt(0), done)).toEqual({ how: "taken", keys: 1 });
  expect(await answer("allow", dialogAt(1), done)).toEqual({ how: "taken", keys: 1 });
  // The first key was dropped.
  expect(await answer("allow", dialogAt(0), dialogAt(0), dialogAt(1), done)).toEqual({ how: "taken", keys: 3 });
});

test("the mark is moved the shorter way, up or down (mend 17)", async () => {
  const keys: string[] = [];
  const lines = (mark: number) => dialogAt(mark);
  let at = 1;
  const host = {
    screen: async () => ({ lines: at < 0 ? ["> "] : lines(at) }) as Screen,
    press: async (_: unknown, [key]: readonly unknown[]) => {
      keys.push(JSON.stringify(key));
      at = keys.length === 1 ? 0 : -1;
      return { waiting: 0 };
    },
  } as unknown as Host;
  const run = { session: "aaaaaaaaaa" as SessionId, run: 1 };
  const text = startDialogOn(dialogs, { what: "trust", screen: { lines: dialogAt(0) } })?.text ?? "";
  const isMeant = (words: string) => words === "No, exit";
  expect(await answerByChoice({ host, run, dialogs, what: "trust", dialog: text, isMeant, pressing() {} })).toBe("taken");
  expect(keys).toEqual([parseKey("Up"), parseKey("Enter")].map((key) => JSON.stringify(key)));
});

test("no key is pressed in a dialog other than the answered one (mend 17)", async () => {
  expect(await answer("allow", dialogAt(1, "/elsewhere"))).toEqual({ how: "gone", keys: 0 });
  expect(await answer("allow", dialogAt(0), dialogAt(1, "/elsewhere"))).toEqual({ how: "gone", keys: 1 });
  expect(await answer("allow", dialogAt(2))).toEqual({ how: "unsafe", keys: 0 });
  expect(await answer(/^Maybe$/, dialogAt(1))).toEqual({ how: "unsafe", keys: 0 });
});

test("a program that ends after the answer has taken it (mend 17)", async () => {
  expect(await answer("deny", dialogAt(0), ENDED)).toEqual({ how: "taken", keys: 1 });
  expect(await answer("allow", dialogAt(0), ENDED)).toEqual({ how: "gone", keys: 1 });
  await expect(answer("deny", ENDED)).rejects.toMatchObject({ code: "session_ended" });
});
