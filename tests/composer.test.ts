/** The screens were recorded on tmux; the native host's emulator produces the same screens with other bytes. */
import type { Screen } from "@holdfast/contract";
import { readComposer } from "@holdfast/daemon/agent/composer";
import { nameOf, readFixtures } from "@holdfast/daemon/agent/fixtures/fixtures";
import { Profiles } from "@holdfast/daemon/agent/profiles/index";
import { Emulator } from "@holdfast/holder/emulator";
import { expect, test } from "vitest";

test("a draft is recognized on the native host as on tmux", async () => {
  const profiles = new Profiles();
  const found: Record<string, string | null> = {};
  const expected: Record<string, string | null> = {};
  for (const fixture of readFixtures()) {
    const { composer } = profiles.get(fixture.agent);
    if (!composer) throw new Error(`${fixture.agent} has no composer`);
    found[nameOf(fixture)] = readComposer(composer, await onNativeHost(fixture.screen))?.is ?? null;
    expected[nameOf(fixture)] = fixture.expected.composer;
  }
  expect(found).toEqual(expected);
});

async function onNativeHost({ ansi, columns, rows, cursor }: Screen): Promise<Screen> {
  const emulator = new Emulator({ directory: "/nowhere", columns, rows, onReply: () => {} });
  const place = `\x1b[${cursor.y + 1};${cursor.x + 1}H\x1b[?25${cursor.visible ? "h" : "l"}`;
  emulator.output(Buffer.from(ansi + place), 0);
  if (!(await emulator.settle(5000))) throw new Error("the emulator did not come to an end");
  return emulator.screen();
}
