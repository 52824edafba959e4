/** Reads the composers of recorded screens of real agents. */
import { describe, expect, test } from "vitest";
import { type Composer, readComposer } from "./composer.ts";
import { nameOf, readFixtures } from "./fixtures/fixtures.ts";
import { Profiles } from "./profiles/index.ts";

const profiles = new Profiles();
const all = readFixtures();

describe.each([...new Set(all.map(({ agent }) => agent))])("%s", (agent) => {
  const composer = profiles.get(agent).composer as Composer;
  const fixtures = all.filter((fixture) => fixture.agent === agent);

  test.each(fixtures.map((fixture) => [nameOf(fixture), fixture] as const))(
    "in %s a draft is found exactly if there is one",
    (_, fixture) => {
      expect(readComposer(composer, fixture.screen)?.is ?? null).toBe(fixture.expected.composer);
    },
  );
});

test("colour distinguishes a suggestion from a draft, in 256 colours and in true colour", () => {
  const { screen } = all.find((fixture) => nameOf(fixture) === "qwen/suggestion.1.json") ?? all[0] ?? expect.fail();
  const composer = profiles.get("qwen").composer as Composer;
  const drawn = (colour: string) => readComposer(composer, { ...screen, ansi: screen.ansi.replaceAll("38;5;103", colour) });
  expect(drawn("38;5;103")).toEqual({ is: "empty" });
  expect(drawn("38;2;108;112;134")).toEqual({ is: "empty" });
  // The colour of a typed command.
  expect(drawn("38;2;203;166;247")).toMatchObject({ is: "draft" });
});

test("gemini's composer is found even while no terminal is attached and its cursor is below everything", () => {
  const { composer } = profiles.get("gemini");
  const read = all
    .filter(({ agent }) => agent === "gemini")
    .map((fixture) => {
      const { lines } = fixture.screen;
      const cursor = { x: 0, y: lines.findLastIndex((line) => line.trim() !== "") + 1, visible: false };
      return [nameOf(fixture), readComposer(composer as Composer, { ...fixture.screen, cursor })?.is ?? null, fixture.expected.composer];
    });
  expect(read.filter(([, is, expected]) => is !== expected)).toEqual([]);
});

test("gemini's composer is found in a terminal of fewer colours, where it has a frame", () => {
  const { composer } = profiles.get("gemini");
  const idle = all.filter(({ agent, expected }) => agent === "gemini" && expected.composer === "empty");
  expect(idle.length).toBeGreaterThan(3);
  const read = idle.map((fixture) => {
    const { lines, columns, cursor } = fixture.screen;
    const framed = lines.with(cursor.y - 1, "▄".repeat(columns)).with(cursor.y + 1, "▀".repeat(columns));
    return readComposer(composer as Composer, { ...fixture.screen, lines: framed })?.is;
  });
  expect(new Set(read)).toEqual(new Set(["empty"]));
});

test("opencode's placeholder is not a draft when a narrow terminal wraps it (truth 10)", () => {
  const composer = profiles.get("opencode").composer as Composer;
  const lines = [
    "",
    "  ┃",
    '  ┃  Ask anything… "What is the',
    '  ┃  tech stack of this project?"',
    "  ┃",
    "  ┃  Build · Scripted Scripted",
    "  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀",
  ];
  const screen = { lines, ansi: lines.join("\r\n"), columns: 40 };
  expect(readComposer(composer, { ...screen, cursor: { x: 5, y: 2, visible: true } })).toEqual({ is: "empty" });
  // A cursor after the text means that a person typed it.
  expect(readComposer(composer, { ...screen, cursor: { x: 33, y: 3, visible: true } })).toMatchObject({ is: "draft" });
});

test("gemini takes no message in vim's NORMAL mode, where typing means commands (truth 10)", () => {
  const { composer } = profiles.get("gemini");
  const vim = all.find((fixture) => nameOf(fixture) === "gemini/vim.1.json") ?? expect.fail();
  const lines = vim.screen.lines.map((line) => line.replace("Press 'Esc' for NORMAL mode.", "Press 'i' for INSERT mode."));
  expect(readComposer(composer as Composer, vim.screen)).toEqual({ is: "empty" });
  expect(readComposer(composer as Composer, { ...vim.screen, lines })).toMatchObject({ is: "draft" });
});

test.each(["claude", "codex", "gemini", "opencode", "qwen"])("the command menu of %s is not part of its composer (truth 6)", (agent) => {
  const composer = profiles.get(agent).composer as Composer;
  const menus = all.filter((fixture) => fixture.agent === agent && fixture.state === "menu");
  expect(menus.map(({ screen }) => readComposer(composer, screen))).toEqual(menus.map(() => ({ is: "draft", text: "/" })));
});
