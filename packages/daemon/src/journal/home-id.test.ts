import { cpSync, existsSync, mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Home, openHome } from "@holdfast/platform";
import { expect, test } from "vitest";
import { Backups } from "./backups.ts";
import { openJournalDatabase } from "./open.ts";

/** Two homes in one directory, opened as a daemon opens them. */
function homes(): { one: Home; two: Home; open(home: Home): Promise<DatabaseSync> } & Disposable {
  const directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const made = (name: string) => {
    const home = openHome({ HOLDFAST_HOME: join(directory.path, name) });
    mkdirSync(home.sessions, { recursive: true });
    return home;
  };
  const open = async (home: Home) => {
    using backups = new Backups({ home, onDamage: () => {} });
    return openJournalDatabase(home, { backups, projections: [], canRebuild: () => false });
  };
  return { one: made("one"), two: made("two"), open, [Symbol.dispose]: () => directory.remove() };
}

function note(db: DatabaseSync, value: string): void {
  db.prepare("INSERT INTO meta (key, value) VALUES ('mine', ?)").run(value);
}

function noted(db: DatabaseSync): unknown {
  return db.prepare("SELECT value FROM meta WHERE key = 'mine'").get()?.value;
}

test("a database of another home is set aside, and nothing is taken from it (mend 24)", async () => {
  using world = homes();
  for (const home of [world.one, world.two]) {
    using db = await world.open(home);
    note(db, home.path);
  }
  cpSync(world.one.database, world.two.database);
  rmSync(`${world.two.database}-wal`, { force: true });
  using db = await world.open(world.two);
  expect(noted(db)).toBe(undefined);
  expect(JSON.parse(String(db.prepare("SELECT value FROM meta WHERE key = 'restore'").get()?.value))).toMatchObject({
    what: "it belongs to another home",
    salvaged: false,
    recovered: 0,
  });
  const [aside = ""] = readdirSync(world.two.setAside);
  using theirs = new DatabaseSync(join(world.two.setAside, aside, "holdfast.db"));
  expect(noted(theirs)).toBe(world.one.path);
});

test("a database of another program is set aside, even in a new home (mend 24)", async () => {
  using world = homes();
  using theirs = new DatabaseSync(world.one.database);
  theirs.exec("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('here')");
  theirs.close();
  using db = await world.open(world.one);
  expect(db.prepare("SELECT count(*) AS count FROM sqlite_schema WHERE name = 'bookmarks'").get()?.count).toBe(0);
  const [aside = ""] = readdirSync(world.one.setAside);
  using kept = new DatabaseSync(join(world.one.setAside, aside, "holdfast.db"));
  expect(kept.prepare("SELECT url FROM bookmarks").all()).toEqual([{ url: "here" }]);
});

test("a home moved or copied as a whole keeps its database, and a damaged id file is written again from it (mend 24)", async () => {
  using world = homes();
  {
    using db = await world.open(world.one);
    note(db, "kept");
  }
  const file = join(world.two.path, "home-id");
  cpSync(world.one.path, world.two.path, { recursive: true });
  const id = readFileSync(file, "utf8");
  for (const damage of [() => {}, () => rmSync(file), () => writeFileSync(file, ""), () => writeFileSync(file, id.slice(0, 9))]) {
    damage();
    using db = await world.open(world.two);
    expect(noted(db)).toBe("kept");
    expect(readFileSync(file, "utf8")).toBe(id);
  }
  expect(existsSync(world.two.setAside)).toBe(false);
});
