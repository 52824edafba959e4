import type { Approval, Principal } from "@holdfast/contract";
import { expect, test } from "vitest";
import { SESSION, World } from "../../test/conversation-world.ts";
import type { Approvals } from "../approval/approvals.ts";

const ASKER = `session:${SESSION}` as Principal;
const PERSON = "user:tester" as Principal;

function inboxOf({ inbox }: World): Approvals {
  if (!inbox) throw new Error("no daemon has begun");
  return inbox;
}

function asked(world: World, what: "approval" | "question" = "question"): Approval {
  const record = world.queries.get(SESSION);
  if (!record) throw new Error("there is no session");
  return inboxOf(world).request(record, { for: what, text: "which colour?", tool: "paint", input: { choices: ["red"] } }, ASKER);
}

test("a request from a tool waits in the inbox, and its session waits for a person, until it is answered", () => {
  using world = new World();
  world.begin();
  const { id, answers } = asked(world);
  expect(answers).toEqual(["answer", "deny"]);
  expect(world.queries.get(SESSION)).toMatchObject({
    status: "waiting",
    standing: { attention: { for: "question", text: "which colour?" } },
  });
  expect(() => inboxOf(world).answer(id, { decision: "allow", actor: PERSON })).toThrow("is a question and needs an answer");
  expect(() => inboxOf(world).answer(id, { decision: "answer", actor: PERSON })).toThrow("an answer needs a text");
  expect(inboxOf(world).answer(id, { decision: "answer", reason: "blue", actor: PERSON })).toMatchObject({
    status: "answered",
    reason: "blue",
  });
  expect(world.queries.get(SESSION)?.standing?.attention).toBeNull();
  expect(() => inboxOf(world).answer(id, { decision: "deny", actor: PERSON })).toThrow("was already answered");
});

test("a waiting tool gets its answer from the next daemon too, and can withdraw its request", async () => {
  using world = new World();
  world.begin();
  const { id } = asked(world, "approval");
  world.kill();
  world.begin();
  const over = inboxOf(world).over(id, { signal: AbortSignal.timeout(10_000) });
  inboxOf(world).withdraw(id, { actor: ASKER });
  expect(await over).toMatchObject({ id, status: "withdrawn" });
  expect(await inboxOf(world).over(asked(world).id, { signal: AbortSignal.abort() })).toMatchObject({ status: "open" });
});

test("a rule of config.toml answers a tool's permission request, but no question", () => {
  using world = new World();
  world.begin([
    {
      name: "paint",
      agent: undefined,
      tool: /^paint$/,
      pattern: undefined,
      directory: undefined,
      decision: "deny",
      reason: "no",
      compound: false,
    },
  ]);
  expect(asked(world, "approval")).toMatchObject({ status: "denied", answeredBy: "rule:paint", reason: "no" });
  expect(asked(world).status).toBe("open");
});
