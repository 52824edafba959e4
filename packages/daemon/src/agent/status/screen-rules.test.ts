import { expect, test } from "vitest";
import { Profiles } from "../profiles/index.ts";
import { readScreen, readTitle } from "./screen-rules.ts";

const HEADER = ["  >_ OpenAI Codex (v0.166.0)", "     /home/dev/code/project"];
const COMPOSER = ["› Ask Codex to do anything", "  scripted default · /home/dev/code/project"];
const SPINS = "⠋ project";

function codex(title: string, ...said: string[]) {
  const lines = [...HEADER, ...said, ...COMPOSER];
  return readScreen(new Profiles().get("codex").screen ?? [], { lines, title })?.claim;
}

test("codex waits for a limit while it retries, not because an earlier turn failed with it (truth 3)", () => {
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
  const before = ["› deploy", "• It is deployed.", "  Worked for 2s • 19:54"];
  expect(codex(SPINS, ...before)).toEqual({ turn: "idle", attention: null });
  expect(codex(SPINS, "› deploy", "■ Conversation interrupted")).toEqual({ turn: "idle", attention: null });
  expect(codex(SPINS, ...before, "› deploy again")).toEqual({ turn: "working", attention: null });
  expect(codex(SPINS, ...before, "• Compacting (1s • esc to interrupt)")).toEqual({ turn: "working", attention: null });
});

test("a title alone is no turn where the same title appears at the start of the agent (truth 11)", () => {
  const read = (agent: string, title: string) => readTitle(new Profiles().get(agent).screen ?? [], title)?.claim.turn;
  expect(read("codex", SPINS)).toBeUndefined();
  expect([read("gemini", "✦  Working"), read("gemini", "◇  Ready")]).toEqual(["working", "idle"]);
  expect(read("claude", "◐ project")).toBe("working");
});

test("codex accepts no input while it loads, and a prompt that waits for startup is a turn (truth 12)", () => {
  const read = (...lines: string[]) => readScreen(new Profiles().get("codex").screen ?? [], { lines, title: "" })?.claim;
  expect(read("  >_ OpenAI Codex (v0.166.0)", "     loading", "› Ask Codex to do anything", "  ? for shortcuts")).toEqual({});
  expect(read(...HEADER, "› say one", "  Waiting for startup  · esc cancel")).toEqual({ turn: "working", attention: null });
  expect(read(...HEADER, "• It is", "     loading", ...COMPOSER)).toEqual({ turn: "idle", attention: null });
});

test("limits on the screens of claude and opencode are recognized (truth 9)", () => {
  const read = (agent: string, lines: string[], title = "") => readScreen(new Profiles().get(agent).screen ?? [], { lines, title })?.claim;
  const rule = "─".repeat(20);
  const claude = (said: string) =>
    read("claude", ["❯ deploy", said, rule, "❯", rule, "  ⏸ manual mode on · esc to interrupt"], "◐ Claude Code");
  const limited = { turn: "working", attention: { for: "rate_limit" } };
  expect(claude("✻ 429 Rate limit reached, try again later · Retrying in 3s · attempt 3/10")).toMatchObject(limited);
  expect(claude("✻ API error · Retrying in 2s · attempt 1/10")).toEqual({ turn: "working", attention: null });
  expect(claude("● It said: 429 Too Many Requests")).toEqual({ turn: "working", attention: null });
  expect(read("opencode", ["  ╹▀▀▀", "   ⬝⬝⬝■ 429 status code (no body) [retrying in 2s attempt #1]   esc interrupt"])).toMatchObject(
    limited,
  );
});

test("a limit on qwen's screen counts only in its own turn (truth 9)", () => {
  const rule = "─".repeat(20);
  const qwen = (...said: string[]) => {
    const lines = ["  > deploy", ...said, rule, ">   Type your message or @path/to/file", rule, "  ➜ project · scripted"];
    return readScreen(new Profiles().get("qwen").screen ?? [], { lines, title: "◐︎ Qwen - project" })?.claim;
  };
  const limited = (text: string) => ({ turn: "working", attention: { for: "rate_limit", text, until: null } });
  const working = { turn: "working", attention: null };
  const spins = "  ⠋ Just a tick... (1m 43s · esc to cancel)";
  const words = "[API Error: 429 Rate limit reached, try again later]";
  expect(qwen(`  ✕ ${words} (Retrying in 53s… (attempt 1/10))`, "  ↻ Retrying in 53 seconds… (attempt 1/10)", spins)).toEqual(
    limited(words),
  );
  // In another language, in a narrow terminal.
  const narrow = ["  ✕ [API Error: 429 Rate limit", "    reached, try again later]", "    (Retrying in 5s… (attempt 1/10))"];
  expect(
    qwen(...narrow, "  ↻ Erneuter Versuch in 5 Sekunden…", "    (Versuch 1/10)", " ⠧Einen Moment (9s · esc to", "      cancel)"),
  ).toEqual(limited("[API Error: 429 Rate limit reached, try again later]"));
  // Not a limit: another failure, the words of an earlier turn, and an answer that quotes them.
  expect(
    qwen("  ✕ [API Error: 503 Overloaded] (Retrying in 5s… (attempt 1/10))", "  ↻ Retrying in 5 seconds… (attempt 1/10)", spins),
  ).toEqual(working);
  expect(qwen(`  ✕ ${words}`, "  > deploy again", spins)).toEqual(working);
  expect(qwen(`  ◆︎ It said:`, `    ✕ ${words} (Retrying in 5s…)`, "    ↻ Retrying in 5 seconds…", spins)).toEqual(working);
});

test("gemini is not idle before it has logged in and drawn its composer (truth 10)", () => {
  const rules = new Profiles().get("gemini").screen ?? [];
  const claim = (...lines: string[]) => readScreen(rules, { title: "◇  Ready (project)", lines })?.claim;
  expect(claim("", "  ")).toEqual({});
  expect(claim("╭───╮", "│ ⠋ Waiting for authentication... (Press Esc or Ctrl+C to cancel) │", "│   │", "╰───╯")).toEqual({});
  expect(claim(" >   Type your message or @path/to/file")).toMatchObject({ turn: "idle" });
});

test("a question of gemini is recognized on a narrow terminal (truth 10)", () => {
  const lines = [
    "╭──────────────────────────────────────╮",
    "│ Which colour?                        │",
    "│ ● 1.  Red                            │",
    "│   2.  Blue                           │",
    "│ Enter to select · ↑/↓ to navigate ·  │",
    "│ Esc to cancel                        │",
    "╰──────────────────────────────────────╯",
  ];
  const claim = readScreen(new Profiles().get("gemini").screen ?? [], { lines, title: "✋  Action Required (project)" })?.claim;
  expect(claim).toMatchObject({ turn: "working", attention: { for: "question", text: "Which colour?" } });
});

test("the screens of gemini and qwen show the end of background work (truth 4)", () => {
  const claim = (agent: string, lines: string[], title: string) =>
    readScreen(new Profiles().get(agent).screen ?? [], { lines, title })?.claim.background;
  expect(claim("gemini", [" 1 Background process", " >   Type your message"], "◇  Ready (project)")).toBe(true);
  expect(claim("gemini", [" >   Type your message"], "◇  Ready (project)")).toBe(false);
  expect(claim("qwen", [">   Type your message", "  ? for shortcuts · 1 shell"], "Qwen - project")).toBe(true);
  expect(claim("qwen", [">   Type your message", "  ? for shortcuts"], "Qwen - project")).toBe(false);
});

test("claude waits for a background agent only if it says so directly above its composer (truth 3, truth 4)", () => {
  const waits = "✻ Waiting for 1 background agent to finish";
  const composer = ["─".repeat(40), "❯", "─".repeat(40), "  ⏸ manual mode on · ? for shortcuts"];
  const claim = (title: string, ...said: string[]) =>
    readScreen(new Profiles().get("claude").screen ?? [], { lines: [...said, ...composer], title })?.claim;
  expect(claim("◐ project", "● launched", waits, "      ◐ medium · /effort")).toEqual({ turn: "idle", attention: null, background: true });
  expect(claim("✳ project", waits, '● Agent "Look" finished · 4s', "● It is done", "✻ Baked for 5s")).toEqual({
    turn: "idle",
    attention: null,
  });
  expect(claim("◐ project", waits, "❯ the next prompt", "✢ Forming… (5s)")).toEqual({ turn: "working", attention: null });
});
