/**
 * Reports sessions that wait for a person or have ended. A file keeps its position, so that events during its absence are reported later
 * and none twice. With `--once` it reports the current state and exits.
 *
 *   node watch.ts cursor.txt
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { connect, HoldfastError, type JournalEvent } from "holdfast/sdk";

const [file = "cursor.txt", once] = process.argv.slice(2);

using holdfast = await connect();
const names = new Map((await holdfast.sessions.list({ all: true })).map(({ id, name }): [string, string] => [id, name]));

function tell({ type, session, actor, data }: JournalEvent): void {
  if (type === "session.created" && session) names.set(session, data.name);
  const name = names.get(session ?? "") ?? session;
  if (type === "session.created") console.log(`${name} was started by ${actor}`);
  if (type === "session.ended") console.log(`${name} has ended: ${data.exit?.signal ?? data.exit?.code ?? data.cause}`);
  if (type === "session.status_changed" && data.attention)
    console.log(`${name} waits for you: ${data.attention.text ?? data.attention.for}`);
}

/** Written completely or not at all, whenever this program dies. */
function keep(cursor: string): void {
  writeFileSync(`${file}.new`, cursor);
  renameSync(`${file}.new`, file);
}

const types = ["session.created", "session.ended", "session.status_changed"];
const after = existsSync(file) ? { after: readFileSync(file, "utf8") } : {};
let last = 0;
try {
  for await (const event of holdfast.events({ ...after, types, follow: once !== "--once" })) {
    tell(event);
    keep(event.cursor);
    // In order and each once, even when the daemon was killed meanwhile.
    assert.ok(event.seq > last);
    last = event.seq;
  }
} catch (error) {
  if (!(error instanceof HoldfastError) || error.code !== "cursor_gone") throw error;
  console.error(`the journal was restored from a backup, and the place in ${file} means nothing any more: remove it`);
  process.exitCode = 1;
}
