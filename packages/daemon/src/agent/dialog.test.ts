import { expect, test } from "vitest";
import { dialogOn } from "./dialog.ts";
import { nameOf, readFixtures } from "./fixtures/fixtures.ts";
import { Profiles } from "./profiles/index.ts";

const profiles = new Profiles();
const recorded = readFixtures().map((fixture) => [nameOf(fixture), fixture] as const);
const asking = recorded.filter(([, { expected }]) => expected.attention?.for === "approval");
const others = recorded.filter(([, { expected }]) => expected.attention?.for !== "approval");

function dialogOf({ agent, screen }: (typeof recorded)[number][1]) {
  const channel = profiles.get(agent).approvals?.screen;
  if (!channel) throw new Error(`${agent} has no dialog`);
  return dialogOn(channel, screen);
}

test.each(asking)("in %s the dialog and its subject are found, and Enter allows it where the marked choice is visible", (_, fixture) => {
  const dialog = dialogOf(fixture);
  expect(dialog?.text).toMatch(/touch (made\.txt|notes\/second\.md|third-one)/);
  expect(dialog?.text).not.toMatch(/say |[│╭╰]/);
  expect(dialog?.canAllow).toBe(fixture.agent !== "opencode");
});

test.each(others)("in %s there is no dialog", (_, fixture) => {
  expect(dialogOf(fixture)).toBeUndefined();
});

const QWEN = [
  "  ? Shell ls (List) ←",
  "     ls",
  "   Allow execution of: 'ls'?",
  "   › 1. Yes, allow once",
  "     2. Always allow",
  "     4. No, suggest changes (esc)",
  "  ⠏ Waiting for user confirmation...",
];

function qwen(change: (lines: string[]) => string[]) {
  const channel = profiles.get("qwen").approvals?.screen;
  return channel && dialogOn(channel, { lines: change([...QWEN]) });
}

test("Enter does not allow a dialog if another choice is marked, or if the request looks like a choice", () => {
  expect(qwen((lines) => lines)).toMatchObject({ canAllow: true, canDeny: true });
  expect(qwen((lines) => lines.map((line) => line.replace("› 1", "  1").replace("  2.", "› 2.")))?.canAllow).toBe(false);
  expect(qwen((lines) => lines.with(1, "   › 1. Yes, allow once"))?.canAllow).toBe(false);
});

test("a dialog that is partly hidden or off the screen cannot be allowed", () => {
  expect(qwen((lines) => lines.with(1, "  ... first 3 lines hidden ..."))).toMatchObject({ canAllow: false, canDeny: false });
  expect(qwen((lines) => lines.slice(1))).toBeUndefined();
  expect(qwen((lines) => [...lines, "a", "b", "c"])).toBeUndefined();
});

const GEMINI = [
  "╭──────────────────────────╮",
  "│ ? Shell  touch gg        │",
  "│ ╭──────────────────────╮ │",
  "│ │ touch gg             │ │",
  "│ ╰──────────────────────╯ │",
  "│ Allow execution of [Shell]? │",
  "│ ● 1. Allow once          │",
  "│   2. Allow for this session │",
  "│   3. No, suggest changes (esc) │",
  "╰──────────────────────────╯",
];
const WARNING = [
  "⚠  Warning: True color (24-bit) support not detected. Using a terminal with true color enabled will result in a better",
  "   visual experience.",
];

function gemini(lines: string[]) {
  const channel = profiles.get("gemini").approvals?.screen;
  return channel && dialogOn(channel, { lines });
}

test("only warnings of Gemini CLI may be below its dialog", () => {
  expect(gemini([...GEMINI, "", ...WARNING])).toMatchObject({ about: "Shell touch gg · Allow execution of [Shell]?", canAllow: true });
  expect(gemini([...GEMINI, "a", "b", ...WARNING])).toBeUndefined();
});
