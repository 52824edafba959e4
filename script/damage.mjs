/**
 * docs/DAMAGE.md, from the tests that prove it: each `cells("file", { missing: "…", … })` in tests/ is a row, and each of its cells a
 * test of that title. A file that is listed here must have its row; a row that is not listed here is one to explain.
 */
import fs from "node:fs";
import path from "node:path";
import { root } from "./root.mjs";

const WAYS = ["missing", "empty", "torn", "garbage"];

/** What each file is, in the order of the table. */
const FILES = {
  "holdfast.db": "the journal and its tables",
  "holdfast.db-wal": "the database's write-ahead log, after a daemon was killed",
  "backups/*.db": "the newest backup, when it is needed",
  "restore.json": "the order of a restore that is under way",
  "spec.json": "what a session is",
  env: "a session's environment",
  launch: "what becomes a run's program",
  token: "the hash of a run's token",
  "output.NNNNNN": "a segment of a recording",
  cut: "where a recording begins, after its oldest segments were deleted",
  "times.idx": "when which byte came",
  gaps: "where a recording has holes",
  "exit.json": "how a run ended",
  "transcript.jsonl": "what was said in a conversation, of a run that has ended",
  stop: "that somebody stopped a run",
  recorder: "the pid of a run's recorder on tmux",
  "workspace.json": "what a workspace is",
  "setup.exit": "how a workspace's set-up ended",
  "setup.pid": "the process of a set-up that runs",
  "check.json": "how the last check in a workspace ended",
  "holders/<run>.json": "a holder that lives",
  "config.toml": "the configuration",
  "listen.json": "the TCP address",
  "revoked-tokens": "tokens that a restored backup must not bring back",
  lock: "held by the daemon for life",
  "lock of a daemon that lives": "the same, from under it",
  "daemon.json": "the daemon's pid",
  "tmux.conf": "what our tmux server reads when it starts",
  "tmux.json": "the tmux server's pid",
  "pane-died": "what the tmux server runs when a program has ended",
  "pane-reaper": "the first process of a pane",
  program: "the pid of a run's program on tmux",
};

const HEAD = `# Damaged files

Written by \`npm run openapi\` from the tests (\`tests/damage*.test.ts\`): every cell is a test whose title begins with
\`[damage: FILE, WAY]\`. *Torn* is cut in the middle, *garbage* is random bytes of the same length. Seeds are in the titles;
\`DAMAGE_SEED=N\` runs one again.

In all of them what runs goes on.
`;

const TAIL = `
## The database

The database is damaged when SQLite says so, when a page, a row or a value cannot be right, when its schema is gone, when transactions
of its log cannot be read, when sessions have run that it does not know, or when it is missing or empty and there are traces of an
earlier life. It is never deleted: it goes to \`damaged/<time>/\`. A log that is gone though the daemon was killed is a reason to look at
every value, and no damage by itself: whoever opens the database with sqlite3 brings the log into it and takes it away.

Its successor is the best that can be had, in this order: what is left of it, if that is sound and only its end is gone; else the
newest backup that is good, and from the damaged one the events after the backup as far as they can be read without a hole; else an empty
one. Then sessions are brought together with what is on disk: those that the journal does not know are written anew from \`spec.json\`
and the files of their runs, later runs and names are added, those whose files are gone are marked as removed. A run whose end is only
found then is not followed by another, also where the session's policy says so: it may have been stopped. A new epoch begins. What
happened is said in the event \`journal.restored\`, in \`daemon.log\`, in \`holdfast status\`, and by each command until a person has seen it.

A database of a newer Holdfast is not damaged: it is refused and left as it is.

A database of another home or of another program is set aside too, and nothing is taken from it. A home has an id in \`home-id\`, and its database and
backups have the same one, so a home can be moved or copied as a whole. A \`home-id\` that is missing or damaged is written anew from the database.

What cannot be noticed: SQLite keeps no checksums of pages. A byte that changes inside a text and leaves it text is read as it is. A log
that is cut exactly between two transactions, or lost, looks like one that never had the rest; sessions that began in the rest are noticed all the same.

## Backups

One is taken every ten minutes when something was appended, half a minute after a start when the last is older, before the schema
changes, before a restore, and by \`holdfast backup create\`. The newest three are kept, then the newest of each of the last six hours and
seven days that have one, the last two before a migration or a restore, and the last five that somebody asked for; together at most 4 GB, but never fewer than two. None is
taken where it would leave less room on the disk than it takes itself; the one before the schema changes needs 4 MB more than it takes.

\`holdfast backup restore NAME\` goes back on request: it takes a backup first, sets the database aside, and begins a new epoch. Sessions
that began since are rebuilt from their files; ones that were removed since stay removed.
`;

export function damagePage() {
  const rows = rowsInTests();
  const missing = Object.keys(FILES).filter((file) => !rows.has(file));
  const unknown = [...rows.keys()].filter((file) => !(file in FILES));
  if (missing.length + unknown.length > 0) {
    throw new Error(
      `docs/DAMAGE.md: no tests for ${missing.join(", ") || "nothing"}; tests of unknown files: ${unknown.join(", ") || "none"}`,
    );
  }
  const lines = Object.entries(FILES).map(([file, what]) => {
    const outcomes = rows.get(file);
    return `| \`${file}\`: ${what} | ${WAYS.map((way) => outcomes[way]).join(" | ")} |`;
  });
  return [HEAD, `| file | ${WAYS.join(" | ")} |`, `|---|${WAYS.map(() => "---|").join("")}`, ...lines, TAIL].join("\n");
}

function rowsInTests() {
  const directory = path.join(root, "tests");
  const rows = new Map();
  for (const name of fs.readdirSync(directory).filter((name) => name.endsWith(".test.ts"))) {
    const text = fs.readFileSync(path.join(directory, name), "utf8");
    for (const [, file, object] of text.matchAll(/^cells\(\s*"([^"]+)",\s*\{(.*?)\n {2}\},/gms)) rows.set(file, outcomesIn(file, object));
  }
  return rows;
}

function outcomesIn(file, object) {
  const outcomes = Object.fromEntries([...object.matchAll(/(\w+): "([^"]+)"/g)].map(([, way, outcome]) => [way, outcome]));
  for (const way of WAYS) if (!outcomes[way]) throw new Error(`docs/DAMAGE.md: ${file} has no test for ${way}`);
  return outcomes;
}
