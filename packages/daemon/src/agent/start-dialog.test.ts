import { expect, test } from "vitest";
import { readFixtures } from "./fixtures/fixtures.ts";
import { Profiles } from "./profiles/index.ts";
import { choiceOf, choicesIn, startDialogOn } from "./start-dialog.ts";

const profiles = new Profiles();
const fixtures = readFixtures();

const trusts = fixtures.filter(({ state }) => state === "trust");

test.each(trusts.map((fixture) => [`${fixture.agent} ${fixture.version} ${fixture.recording}`, fixture] as const))(
  "the trust dialog of %s is read in full, with the choice that Enter takes (mend 17)",
  (_, { agent, screen }) => {
    const dialogs = profiles.get(agent).approvals?.dialogs;
    const shown = startDialogOn(dialogs, { what: "trust", screen });
    const [allow, deny] = [shown?.dialog.choices?.allow, shown?.dialog.choices?.deny];
    const lines = shown?.text.split("\n") ?? [];
    expect(lines.filter((line) => allow?.test(line))).toHaveLength(1);
    expect(lines.filter((line) => deny?.test(line))).toHaveLength(1);
    expect(shown?.about).not.toMatch(/^\s*$|❯|›|●/);
    const isDefault = allow?.test(shown?.marked ?? "");
    expect([isDefault, deny?.test(shown?.marked ?? "")]).toEqual(agent === "claude" ? [false, true] : [true, false]);
    expect(startDialogOn(dialogs, { what: "login", screen })).toBeUndefined();
  },
);

const logins = fixtures.filter(({ state, agent }) => state === "login" && agent !== "claude" && agent !== "opencode");

test.each(logins.map((fixture) => [`${fixture.agent} ${fixture.version} ${fixture.recording}`, fixture] as const))(
  "the login dialog of %s offers its login methods as choices (mend 17)",
  (_, { agent, screen }) => {
    const dialogs = profiles.get(agent).approvals?.dialogs;
    const shown = startDialogOn(dialogs, { what: "login", screen });
    const { choices = [] } = choicesIn(dialogs, shown?.text ?? "") ?? {};
    expect(choices).toHaveLength(3);
    expect(choices[0]).toBe(shown?.marked);
    expect(choiceOf(choices, "3")).toBe(choices[2]);
    expect(startDialogOn(dialogs, { what: "trust", screen })).toBeUndefined();
  },
);

test("moving the mark does not change a dialog's text, and a quoted dialog is not a dialog (mend 17)", () => {
  const [claude] = trusts.filter(({ agent }) => agent === "claude");
  const dialogs = profiles.get("claude").approvals?.dialogs;
  const lines = claude?.screen.lines ?? [];
  const moved = lines.map((line) => line.replace("❯ No, exit", "  No, exit").replace("  Yes, I trust", "❯ Yes, I trust"));
  const [before, after] = [lines, moved].map((each) => startDialogOn(dialogs, { what: "trust", screen: { lines: each } }));
  expect(after?.text).toBe(before?.text);
  expect(after?.marked).toBe("Yes, I trust this folder");
  expect(startDialogOn(dialogs, { what: "trust", screen: { lines: [...lines, "❯ quoted"] } })).toBeUndefined();
  const cut = lines.filter((line) => !line.includes("Accessing workspace"));
  expect(startDialogOn(dialogs, { what: "trust", screen: { lines: cut } })).toBeUndefined();
});

test("no other recorded screen is read as a trust dialog (mend 17)", () => {
  const others = fixtures.filter(({ expected }) => expected.attention?.for !== "trust");
  const taken = others.filter(({ agent, screen }) => {
    return startDialogOn(profiles.find(agent)?.approvals?.dialogs, { what: "trust", screen }) !== undefined;
  });
  expect(taken.map(({ agent, state }) => `${agent} ${state}`)).toEqual([]);
});

test("each choice of a recorded trust dialog is found by its words and by its number (mend 17)", () => {
  for (const { agent, screen } of trusts) {
    const dialogs = profiles.get(agent).approvals?.dialogs;
    const { choices = [] } = choicesIn(dialogs, startDialogOn(dialogs, { what: "trust", screen })?.text ?? "") ?? {};
    expect(choices).toHaveLength({ gemini: 3, qwen: 3 }[agent as string] ?? 2);
    for (const [index, choice] of choices.entries()) {
      expect(choiceOf(choices, String(index + 1))).toBe(choice);
      expect(choiceOf(choices, choice.replace(/^\d\. /, "").toUpperCase())).toBe(choice);
    }
    for (const none of ["", "0", "4", "trust"]) expect(choiceOf(choices, none)).toBeUndefined();
  }
});
