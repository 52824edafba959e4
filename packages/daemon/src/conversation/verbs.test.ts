import { HoldfastError, type Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { SESSION, SOMEBODY, World } from "../../test/conversation-world.ts";
import { Profiles } from "../agent/profiles/index.ts";
import { Transcripts } from "./transcripts.ts";
import { ConversationVerbs } from "./verbs.ts";

function open(world: World, { turn = null, onPress }: { turn?: string | null; onPress?: () => unknown } = {}) {
  const pressed: unknown[] = [];
  const keeper = {
    converse: async (_: unknown, request: Parameters<World["keep"]>[0]) => {
      world.told.push(request);
      return world.keep(request);
    },
  };
  const verbs = new ConversationVerbs({
    transcripts: new Transcripts({ home: world.home, queries: world.queries, changed: () => undefined }),
    keeper,
    turnOf: () => turn,
    catchUp: () => {},
    viewOf: (ref) => ({ id: ref }) as Session,
    resolve: (ref) => world.queries.resolve(ref),
    keepChoice: () => {},
    profiles: new Profiles(),
    press: async (ref, { keys }) => {
      pressed.push([ref, keys]);
      onPress?.();
    },
    journal: world.journal,
    get: (id) => world.queries.get(id),
    lookAgain: () => {},
  });
  return { verbs, pressed };
}

/** Makes its agent known to run. */
function live(world: World): World {
  world.begin();
  world.write({ type: "note", about: "opened", text: "it begins", conversation: "c1" });
  return world;
}

const end = (world: World) => world.end(1);

test("a conversation shows its keeper's state and the end of its transcript", async () => {
  using world = live(new World());
  const conversation = await open(world).verbs.get("fix");
  expect(conversation).toMatchObject({
    session: { id: SESSION },
    turn: null,
    settings: { modes: [] },
    cursor: expect.stringMatching(/^1\.\d+$/),
  });
});

test("a conversation that has ended, or whose keeper does not answer, has a transcript but no settings", async () => {
  using world = live(new World());
  world.keep = async () => {
    throw new HoldfastError("internal", "the socket is gone");
  };
  expect(await open(world).verbs.get("fix")).toMatchObject({ turn: null, settings: null, cursor: expect.stringMatching(/^1\.\d+$/) });
  world.told.length = 0;
  end(world);
  expect(await open(world).verbs.get("fix")).toMatchObject({ settings: null });
  expect(world.told).toEqual([]);
});

test("mode and model can be set, at least one of them, and a conversation can be cleared", async () => {
  using world = live(new World());
  const { verbs } = open(world);
  await verbs.set("fix", { mode: "auto" });
  await verbs.set("fix", { model: "big" });
  await verbs.clear("fix");
  expect(world.told.filter(({ t }) => t !== "state")).toEqual([{ t: "set", mode: "auto" }, { t: "set", model: "big" }, { t: "clear" }]);
  await expect(verbs.set("fix", {})).rejects.toMatchObject({ code: "usage" });
});

test("an ended conversation cannot be set, cleared or cancelled, and the error says how to continue", async () => {
  using world = live(new World());
  end(world);
  const { verbs } = open(world);
  for (const act of [() => verbs.set("fix", { mode: "x" }), () => verbs.clear("fix"), () => verbs.cancel("fix", SOMEBODY)]) {
    await expect(act()).rejects.toMatchObject({ code: "session_ended", hint: "resume it: holdfast resume fix" });
  }
});

test("cancelling a turn reports whether one ran", async () => {
  using world = live(new World());
  expect(await open(world, { turn: "m1" }).verbs.cancel("fix", SOMEBODY)).toMatchObject({ cancelled: true });
  expect(await open(world).verbs.cancel("fix", SOMEBODY)).toMatchObject({ cancelled: false });
  expect(world.told).toEqual([{ t: "cancel" }, { t: "cancel" }]);
});

/** Sets the known status of a terminal's agent. */
function doing(world: World, turn: "working" | "idle"): void {
  const since = new Date().toISOString();
  const rest = { since, sinceBoot: null, attention: null, background: null, hung: false, evidence: [] };
  world.append("session.status_changed", { run: 1, status: turn, turn, turnBegan: turn === "working", ...rest });
}

test("an agent on a terminal is interrupted with its keys, and only while it works", async () => {
  using world = new World("terminal");
  const { verbs, pressed } = open(world);
  await expect(verbs.cancel("fix", SOMEBODY)).rejects.toMatchObject({ code: "status_unknown" });
  doing(world, "idle");
  expect(await verbs.cancel("fix", SOMEBODY)).toMatchObject({ cancelled: false, outcome: "none", steps: [] });
  expect(pressed).toEqual([]);
  doing(world, "working");
  expect(await verbs.cancel("fix", SOMEBODY)).toMatchObject({ cancelled: true, outcome: "unknown" });
  expect(pressed).toEqual([[SESSION, new Profiles().get("demo").interrupt]]);
});

test("a cancel is repeated until the turn has ended, and reports its steps (mend 13)", async () => {
  using world = new World("terminal");
  doing(world, "working");
  const { verbs, pressed } = open(world, { onPress: () => pressed.length === 2 && doing(world, "idle") });
  expect(await verbs.cancel("fix", SOMEBODY, { waitMs: 50 })).toMatchObject({ outcome: "stopped", steps: ["keys", "keys_again"] });
});

test("a cancel that an agent ignores is an error that lists the steps and offers stop (mend 13)", async () => {
  using world = new World("terminal");
  doing(world, "working");
  const refusal = open(world).verbs.cancel("fix", SOMEBODY, { waitMs: 20 });
  await expect(refusal).rejects.toMatchObject({
    code: "cancel_ignored",
    details: { steps: ["keys", "keys_again"] },
    hint: expect.stringContaining("holdfast stop fix"),
  });
  using talk = live(new World());
  const ignored = open(talk, { turn: "m1" }).verbs.cancel("fix", SOMEBODY, { waitMs: 20 });
  await expect(ignored).rejects.toMatchObject({ code: "cancel_ignored", details: { steps: ["protocol", "protocol_again"] } });
  expect(talk.told).toEqual([{ t: "cancel" }, { t: "cancel" }]);
});
