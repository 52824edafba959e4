import type { Peer, SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { introduction } from "./introduction.ts";

const peer = (name: string, more: Partial<Peer> = {}): Peer => ({
  session: name.padEnd(10, "x") as SessionId,
  name,
  agent: "claude",
  status: "working",
  ended: false,
  coordinator: false,
  groups: ["team"],
  role: null,
  objective: null,
  ...more,
});

test("an agent is told who its peers are, who coordinates, and by which commands it reaches them", () => {
  const peers = [
    peer("lead", { coordinator: true, role: "architect", objective: "Plan\nthe  work" }),
    peer("gone", { ended: true }),
    peer("writer", { agent: "codex", objective: "x".repeat(200) }),
  ];
  const text = introduction({ name: "me", groups: ["team"], peers, hasTools: false });
  expect(text).toContain(
    'You are the agent session "me" in the group "team". Your peers:\n- lead (claude, the coordinator, architect): Plan the work\n',
  );
  expect(text).toContain(`- writer (codex): ${"x".repeat(99)}…\n`);
  expect(text).not.toContain("gone");
  for (const command of [
    "group peers",
    "send NAME",
    "group send team",
    "group keys team",
    "group get team KEY",
    "group share team KEY JSON",
  ])
    expect(text).toContain(`holdfast ${command}`);
  expect(text).toMatch(/not an order of the user\.\]$/);
});

test("with Holdfast's tools it is told of those, and alone that it is alone", () => {
  const text = introduction({ name: "me", groups: ["a", "b/c"], peers: [], hasTools: true });
  expect(text).toContain('in the groups "a" and "b/c". Nobody else is in them yet');
  expect(text).toContain("share_context");
  expect(text).not.toContain("holdfast group");
  const many = introduction({ name: "me", groups: ["a"], peers: Array.from({ length: 23 }, (_, i) => peer(`p${i}`)), hasTools: true });
  expect(many).toContain("- p19 (claude)\n- and 3 more\n");
});

test("in several groups, or with peers in those above, it is told which group reaches whom", () => {
  const above = introduction({ name: "me", groups: ["team/research"], peers: [peer("lead")], hasTools: false });
  expect(above).toContain('holdfast group send GROUP "TEXT": tell all in one of these, and in those below it: team/research, team\n');
  expect(above).toContain("holdfast group share team/research KEY JSON");
  const below = introduction({ name: "me", groups: ["team"], peers: [peer("deep", { groups: ["team/research"] })], hasTools: false });
  expect(below).toContain('holdfast group send team "TEXT": tell all of them\n');
  const several = introduction({ name: "me", groups: ["a", "b"], peers: [], hasTools: false });
  expect(several).toContain("in those below it: a, b\n- holdfast group keys GROUP; holdfast group get GROUP KEY");
});
