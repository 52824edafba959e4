import { HoldfastError, type Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { Profiles } from "../agent/profiles/index.ts";
import { Transcripts } from "./transcripts.ts";
import { ConversationVerbs } from "./verbs.ts";
import { SESSION, SOMEBODY, World } from "./world.ts";

function open(world: World, turn: string | null = null) {
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
    viewOf: (ref) => ({ id: ref }) as Session,
    resolve: (ref) => world.queries.resolve(ref),
    keepChoice: () => {},
    profiles: new Profiles(),
    press: async (ref, { keys }) => void pressed.push([ref, keys]),
  });
  return { verbs, pressed };
}

/** So that its agent is known to be there. */
function live(world: World): World {
  world.begin();
  world.write({ type: "note", about: "opened", text: "it begins", conversation: "c1" });
  return world;
}

const end = (world: World) => world.end(1);

test("a conversation is what its keeper says of it, and where its transcript ends", async () => {
  using world = live(new World());
  const conversation = await open(world).verbs.get("fix");
  expect(conversation).toMatchObject({
    session: { id: SESSION },
    turn: null,
    settings: { modes: [] },
    cursor: expect.stringMatching(/^1\.\d+$/),
  });
});

test("one that has ended, or whose keeper does not answer, has no settings, and its transcript all the same", async () => {
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

test("mode and model are set, at least one of them, and it is cleared", async () => {
  using world = live(new World());
  const { verbs } = open(world);
  await verbs.set("fix", { mode: "auto" });
  await verbs.set("fix", { model: "big" });
  await verbs.clear("fix");
  expect(world.told.filter(({ t }) => t !== "state")).toEqual([{ t: "set", mode: "auto" }, { t: "set", model: "big" }, { t: "clear" }]);
  await expect(verbs.set("fix", {})).rejects.toMatchObject({ code: "usage" });
});

test("of one that has ended nothing is set, cleared or cancelled; it is said how to go on", async () => {
  using world = live(new World());
  end(world);
  const { verbs } = open(world);
  for (const act of [() => verbs.set("fix", { mode: "x" }), () => verbs.clear("fix"), () => verbs.cancel("fix", SOMEBODY)]) {
    await expect(act()).rejects.toMatchObject({ code: "session_ended", hint: "go on with it: holdfast resume fix" });
  }
});

test("a turn is cancelled, and it is said whether one ran", async () => {
  using world = live(new World());
  expect(await open(world, "m1").verbs.cancel("fix", SOMEBODY)).toMatchObject({ cancelled: true });
  expect(await open(world, null).verbs.cancel("fix", SOMEBODY)).toMatchObject({ cancelled: false });
  expect(world.told).toEqual([{ t: "cancel" }, { t: "cancel" }]);
});

test("an agent on a terminal is interrupted by its keys, and only while it works", async () => {
  using world = new World("terminal");
  const { verbs, pressed } = open(world);
  expect(await verbs.cancel("fix", SOMEBODY)).toMatchObject({ cancelled: false });
  expect(pressed).toEqual([]);
  const since = new Date().toISOString();
  const working = {
    run: 1,
    status: "working",
    since,
    sinceBoot: null,
    turn: "working",
    attention: null,
    background: null,
    hung: false,
    evidence: [],
  };
  world.append("session.status_changed", { ...working, turnBegan: true });
  expect(await verbs.cancel("fix", SOMEBODY)).toMatchObject({ cancelled: true });
  expect(pressed).toEqual([[SESSION, new Profiles().get("demo").interrupt]]);
});
