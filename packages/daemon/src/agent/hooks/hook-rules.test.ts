import { describeTool, type Evidence } from "@holdfast/contract";
import { expect, test } from "vitest";
import { type Fixture, nameOf, readFixtures } from "../fixtures/fixtures.ts";
import { Profiles } from "../profiles/index.ts";
import { withEvidence } from "../status/evidence.ts";
import { fuse } from "../status/fuse.ts";
import { readHook } from "./hook-rules.ts";

const profiles = new Profiles();

/** Only the screen shows these: Esc, an allowed tool that runs, and dialogs before the conversation fire no hook. */
const SILENT = new Set(["interrupted", "denied", "login", "trust", "tool"]);
/** Codex has no hook for failed model calls; Gemini has none for its limit dialog and its loop dialog. */
const SILENT_OF: Record<string, readonly string[]> = { codex: ["refused", "rate-limit", "usage-limit"], gemini: ["usage-limit", "loop"] };

const told = readFixtures().filter(
  ({ agent, state, hooks }) => profiles.get(agent).hooks && hooks.length > 0 && !SILENT.has(state) && !SILENT_OF[agent]?.includes(state),
);

test.each(told.map((fixture) => [nameOf(fixture), fixture] as const))("the hooks of %s report the expected state", (_, fixture) => {
  const { turn, attention } = fuse(evidenceOf(fixture));
  expect(turn?.value ?? fixture.expected.turn).toBe(fixture.expected.turn);
  expect(attention?.value?.for).toBe(fixture.expected.attention?.for);
});

function evidenceOf({ agent, hooks }: Fixture): Evidence[] {
  const reading = profiles.get(agent).hooks;
  return hooks.reduce<Evidence[]>((all, payload, i) => {
    const signal = reading && readHook(reading, payload, new Date(i * 1000).toISOString());
    return signal ? withEvidence(all, { source: "hook", at: signal.at, claim: signal.claim, what: signal.event }) : all;
  }, []);
}

test("a tool call is described in one line by its main argument", () => {
  expect(describeTool({ name: "Bash", input: { description: "clean up", command: "rm -rf \\\n  build" } })).toBe("Bash: rm -rf \\␊  build");
  expect(describeTool({ name: "shell", input: { command: ["rm", "-rf", "build"] } })).toBe("shell: rm -rf build");
  expect(describeTool({ name: "Mystery", input: { depth: 3 } })).toBe('Mystery: {"depth":3}');
  expect(describeTool({ name: "Stop", input: null })).toBe("Stop");
  expect(describeTool({ name: "Write", input: { command: "x".repeat(900) } }).length).toBeLessThanOrEqual(400);
});

test("a long description of a wait is shortened to what can be read at a glance", () => {
  const reading = profiles.get("gemini").hooks;
  const payload = {
    hook_event_name: "Notification",
    notification_type: "ToolPermission",
    details: { command: `cat <<E\n${"x".repeat(5_000_000)}` },
  };
  const signal = reading && readHook(reading, payload, new Date().toISOString());
  expect(signal?.claim.attention?.text).toMatch(/^cat <<E␊x+ …\[5000008 characters in all\]… x+$/);
});

test("a request of Gemini names the MCP tool instead of its generic message", () => {
  const reading = profiles.get("gemini").hooks;
  const payload = {
    hook_event_name: "Notification",
    notification_type: "ToolPermission",
    message: "Tool Confirm MCP Tool Execution requires MCP",
    details: {
      type: "mcp",
      title: "Confirm MCP Tool Execution",
      serverName: "holdfast",
      toolName: "spawn_agent",
      toolDisplayName: "spawn_agent",
    },
  };
  const signal = reading && readHook(reading, payload, new Date().toISOString());
  expect(signal?.claim.attention).toMatchObject({ for: "approval", text: "spawn_agent" });
});

test.each([
  ["claude", { hook_event_name: "StopFailure", error: "rate_limit", last_assistant_message: "You've hit your limit · resets 9:41am" }],
  [
    "opencode",
    {
      type: "session.status",
      properties: { status: { type: "retry", message: "Rate limit", next: new Date(2026, 0, 2, 9, 41).getTime() } },
    },
  ],
])("the hooks of %s report when a limit ends", (agent, payload) => {
  const reading = profiles.get(agent).hooks;
  const signal = reading && readHook(reading, payload, new Date(2026, 0, 2, 8, 0).toISOString());
  expect(signal?.claim.attention).toMatchObject({ for: "rate_limit", until: new Date(2026, 0, 2, 9, 41).toISOString() });
});

test.each(["../../etc/x", "*", "--resume", "a b", "", "x".repeat(201)])("a hook cannot make %j the conversation", (session_id) => {
  const { hooks } = profiles.get("claude");
  const signal = hooks && readHook(hooks, { hook_event_name: "SessionStart", session_id }, new Date(0).toISOString());
  expect(signal).toMatchObject({ event: "SessionStart", conversation: null });
});

test("the end of a turn of claude tells whether something runs in the background (truth 4)", () => {
  const reading = profiles.get("claude").hooks;
  const claim = (more: object) => reading && readHook(reading, { hook_event_name: "Stop", ...more }, "2026-01-01T00:00:00.000Z")?.claim;
  const task = { id: "a", type: "subagent", status: "running" };
  expect(claim({ background_tasks: [task] })).toEqual({ turn: "idle", attention: null, background: true });
  expect(claim({ background_tasks: [{ ...task, status: "completed" }] })).toMatchObject({ background: false });
  expect(claim({ background_tasks: [] })).toMatchObject({ background: false });
  expect(claim({})).toEqual({ turn: "idle", attention: null });
});
