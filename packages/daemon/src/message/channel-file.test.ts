import { appendFileSync, mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionId } from "@holdfast/contract";
import { openHome, runDirectory } from "@holdfast/platform";
import { expect, test } from "vitest";
import type { Channel } from "../agent/profile.ts";
import { ChannelFile } from "./channel-file.ts";

test("a message after one that a full disk cut in half gets its own line", () => {
  using place = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const home = openHome({ HOLDFAST_HOME: place.path });
  const run = { session: "aaaaaaaaaa" as SessionId, run: 1 };
  const channel: Channel = { name: "input file", file: "input.jsonl", line: ({ id, text }) => JSON.stringify({ text, id }) };
  expect(ChannelFile.find(home, run, channel)).toBeUndefined();
  const path = join(runDirectory(home, run.session, 1), "hooks", "input.jsonl");
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, "");
  const file = ChannelFile.find(home, run, channel);
  file?.append({ id: "one", text: 'says "two"' });
  expect([file?.has("one"), file?.has("two")]).toEqual([true, false]);
  appendFileSync(path, '{"text":"ha');
  file?.append({ id: "three", text: "whole" });
  const lines = readFileSync(path, "utf8").split("\n");
  expect(lines).toEqual(['{"text":"says \\"two\\"","id":"one"}', '{"text":"ha', '{"text":"whole","id":"three"}', ""]);
});
