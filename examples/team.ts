/**
 * Workers of a group take items from a shared list. A worker claims an item by writing its name beside it. `update` writes only if nobody
 * changed the value meanwhile, so each item has one worker.
 *
 *   AGENT=claude node team.ts 3 'write a test for %s' src/a.ts src/b.ts src/c.ts src/d.ts
 */
import assert from "node:assert/strict";
import { connect } from "holdfast/sdk";

type Item = { what: string; by: string | null; done: boolean };

const [count = "2", template = "%s", ...things] = process.argv.slice(2);
const agent = process.env.AGENT ?? "claude";
const group = `team-${process.pid}`;

using holdfast = await connect();
await holdfast.groups.create(group);
await holdfast.groups.share(
  group,
  "items",
  things.map((what): Item => ({ what, by: null, done: false })),
);

const change = (edit: (items: Item[]) => void) =>
  holdfast.groups.update(group, "items", (value) => {
    const items = structuredClone(value) as Item[];
    edit(items);
    return items;
  });

async function take(worker: string): Promise<Item | undefined> {
  let taken: Item | undefined;
  await change((items) => {
    taken = items.find(({ by }) => by === null);
    if (taken) taken.by = worker;
  });
  return taken;
}

async function work(number: number): Promise<void> {
  // A group member from the start: it knows its peers, and they see its progress (holdfast group show).
  const session = await holdfast.sessions.create({ agent, chat: true, name: `${group}-${number}`, groups: [group] });
  for (let item = await take(session.name); item; item = await take(session.name)) {
    const { what } = item;
    await holdfast.query({ session: session.id, prompt: template.replace("%s", what), onApproval: () => "allow" }).result;
    await change((items) => {
      for (const each of items) if (each.what === what) each.done = true;
    });
    console.log(`${session.name}: ${what}`);
  }
}

try {
  await Promise.all(Array.from({ length: Number(count) }, (_, index) => work(index + 1)));
  const { sessions, spent } = await holdfast.groups.stats(group);
  console.log(`${sessions.total} workers, ${spent.turns} turns, ${spent.input} tokens in`);

  // Everything was done once: there are as many turns as items.
  const items = (await holdfast.groups.value(group, "items"))?.value as Item[];
  assert.ok(items.every(({ by, done }) => by !== null && done));
  assert.equal(spent.turns, things.length);
} finally {
  const { members } = await holdfast.groups.get(group);
  await Promise.all(members.map(({ session }) => holdfast.sessions.remove(session, { force: true })));
  await holdfast.groups.remove(group, { force: true });
}
