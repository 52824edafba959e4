import { expect, test } from "vitest";
import { Profiles } from "../profiles/index.ts";
import { readScreen } from "./screen-rules.ts";

const HEADER = ["  >_ OpenAI Codex (v0.166.0)", "     /home/dev/code/project"];
const COMPOSER = ["› Ask Codex to do anything", "  scripted default · /home/dev/code/project"];
const SPINS = "⠋ project";

function codex(title: string, ...said: string[]) {
  const lines = [...HEADER, ...said, ...COMPOSER];
  return readScreen(new Profiles().get("codex").screen ?? [], { lines, title })?.claim;
}

test("codex waits for its limit while it tries again, not because an earlier turn has failed by it (truth 3)", () => {
  const failed = ["› deploy", "■ exceeded retry limit, last status: 429 Too Many Requests"];
  const tries = ["• Reconnecting... 2/5 (30s • esc to interrupt)", "  └ Exceeded retry limit, last status: 429 Too Many Requests"];
  expect(codex(SPINS, "› deploy", ...tries)).toMatchObject({ turn: "working", attention: { for: "rate_limit" } });
  expect(codex(SPINS, "› deploy", tries[0] ?? "", "  └ Exceeded retry limit, last status: 429", "    Too Many Requests")).toMatchObject({
    attention: { for: "rate_limit" },
  });
  expect(codex(SPINS, ...failed, "› again", "• Working (1s • esc to interrupt)")).toEqual({ turn: "working", attention: null });
  expect(codex(SPINS, ...failed, "› again", "• It said:", "  └ 429 Too Many Requests")).toEqual({ turn: "working", attention: null });
  expect(codex("project", ...failed)).toEqual({ turn: "idle", attention: null });
});

test("codex has no turn while it starts up (truth 11)", () => {
  expect(codex(SPINS)).toEqual({ turn: "idle", attention: null });
  expect(codex(SPINS, "• Booting MCP server: tickets (3s • esc to interrupt)")).toEqual({ turn: "idle", attention: null });
  expect(codex(SPINS, "› deploy")).toEqual({ turn: "working", attention: null });
  expect(codex(SPINS, "• Working (1s • esc to interrupt)")).toEqual({ turn: "working", attention: null });
});
