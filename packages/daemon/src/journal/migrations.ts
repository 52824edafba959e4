import { NEWS_1, NEWS_2 } from "./news.ts";

/**
 * The schema's history. Entry n migrates a database from version n to n + 1 (`PRAGMA user_version`). A released entry is never edited; a change is
 * a new entry at the end.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    epoch TEXT NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    v INTEGER NOT NULL,
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    session TEXT,
    machine TEXT NOT NULL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_by_session ON events (session, seq) WHERE session IS NOT NULL;

  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    agent TEXT NOT NULL,
    role TEXT,
    objective TEXT,
    host TEXT NOT NULL,
    cwd TEXT NOT NULL,
    command TEXT NOT NULL,
    owner TEXT NOT NULL,
    created_at TEXT NOT NULL,
    created_seq INTEGER NOT NULL,
    status TEXT NOT NULL,
    run INTEGER NOT NULL,
    restart TEXT NOT NULL,
    restart_at TEXT,
    memory_limit INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sessions_by_status ON sessions (status);

  CREATE TABLE runs (
    session TEXT NOT NULL,
    run INTEGER NOT NULL,
    pid INTEGER,
    pid_start TEXT,
    output_path TEXT,
    started_at TEXT,
    stop_requested INTEGER NOT NULL DEFAULT 0,
    limit_exceeded TEXT,
    ended_at TEXT,
    exit_code INTEGER,
    exit_signal TEXT,
    cause TEXT,
    last_activity_at TEXT,
    bytes INTEGER,
    PRIMARY KEY (session, run)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE INDEX events_of_removals ON events (at) WHERE type = 'session.removed';
  CREATE INDEX events_of_no_session ON events (at) WHERE session IS NULL;
  ALTER TABLE sessions ADD COLUMN recording_limit INTEGER;
  ALTER TABLE sessions ADD COLUMN viewed_at TEXT;
  ALTER TABLE sessions ADD COLUMN restart_due TEXT;
  ALTER TABLE runs ADD COLUMN cut_offset INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN duration_ms INTEGER;
  ALTER TABLE runs ADD COLUMN ended_seq INTEGER;
  UPDATE runs SET duration_ms = max(0, CAST(round((julianday(ended_at) - julianday(started_at)) * 86400000) AS INTEGER));
  UPDATE runs SET ended_seq =
    (SELECT max(seq) FROM events e WHERE e.session = runs.session AND e.type = 'session.ended' AND json_extract(e.data, '$.run') = runs.run);
  `,
  `
  ALTER TABLE sessions ADD COLUMN parent TEXT;
  CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;

  CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    scope TEXT NOT NULL,
    hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_seq INTEGER NOT NULL,
    expires_at TEXT,
    revoked_at TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX tokens_by_name ON tokens (name) WHERE revoked_at IS NULL;

  CREATE INDEX events_of_others ON events (seq) WHERE actor <> 'daemon';
  `,
  `
  ALTER TABLE sessions ADD COLUMN turns INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN conversation TEXT;
  ALTER TABLE runs ADD COLUMN status_at TEXT;
  ALTER TABLE runs ADD COLUMN standing TEXT;
  `,
  `
  ALTER TABLE sessions ADD COLUMN restart_given_up TEXT;
  `,
  `
  CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    run INTEGER NOT NULL,
    requested_seq INTEGER NOT NULL,
    requested_at TEXT NOT NULL,
    asked TEXT NOT NULL,
    status TEXT NOT NULL,
    ended_at TEXT,
    answered_by TEXT,
    reason TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX approvals_by_session ON approvals (session, requested_seq);
  CREATE INDEX approvals_open ON approvals (requested_seq) WHERE status = 'open';
  `,
  `
  CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    sender TEXT NOT NULL,
    text TEXT NOT NULL,
    steer INTEGER NOT NULL,
    state TEXT NOT NULL,
    open INTEGER NOT NULL DEFAULT 1,
    working INTEGER NOT NULL DEFAULT 0,
    run INTEGER,
    via TEXT,
    evidence TEXT,
    reply TEXT,
    why TEXT,
    hint TEXT,
    known INTEGER NOT NULL DEFAULT 1,
    queued_at TEXT NOT NULL,
    injected_at TEXT,
    turn_started_at TEXT,
    ended_at TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX messages_by_session ON messages (session, seq);
  CREATE INDEX messages_open ON messages (session, seq) WHERE open = 1;
  `,
  `
  CREATE TABLE workspaces (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    repo TEXT,
    branch TEXT,
    own_branch INTEGER NOT NULL,
    base TEXT,
    base_commit TEXT,
    port_base INTEGER NOT NULL,
    ports INTEGER NOT NULL,
    notes TEXT NOT NULL,
    owner TEXT NOT NULL,
    created_at TEXT NOT NULL,
    created_seq INTEGER NOT NULL,
    setup_command TEXT,
    setup_state TEXT,
    setup_exit INTEGER,
    merged_at TEXT,
    merged_tip TEXT,
    removed_at TEXT,
    recovery_ref TEXT,
    conflicts TEXT NOT NULL DEFAULT '[]',
    base_conflicts TEXT NOT NULL DEFAULT '[]'
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX workspaces_by_name ON workspaces (name) WHERE removed_at IS NULL;
  ALTER TABLE sessions ADD COLUMN workspace TEXT;
  `,
  `
  ALTER TABLE sessions ADD COLUMN conversations TEXT NOT NULL DEFAULT '[]';
  UPDATE sessions SET conversations = json_array(json_object('id', conversation, 'run', 1, 'since', created_at)) WHERE conversation IS NOT NULL;
  `,
  `
  ALTER TABLE messages ADD COLUMN addition TEXT;
  `,
  `
  ALTER TABLE sessions ADD COLUMN lost_run INTEGER;
  CREATE TABLE generations (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    why TEXT NOT NULL,
    sessions TEXT NOT NULL
  ) STRICT;
  `,
  `
  ALTER TABLE workspaces ADD COLUMN merged_commit TEXT;
  `,
  `
  CREATE TABLE tournaments (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    prompt TEXT,
    repo TEXT,
    base TEXT,
    base_commit TEXT,
    agents TEXT NOT NULL,
    owner TEXT NOT NULL,
    started_at TEXT NOT NULL,
    started_seq INTEGER NOT NULL,
    kept TEXT,
    kept_at TEXT
  ) STRICT, WITHOUT ROWID;
  ALTER TABLE workspaces ADD COLUMN tournament TEXT;
  `,
  `
  CREATE TABLE attachments (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    principal TEXT NOT NULL,
    role TEXT NOT NULL,
    since TEXT NOT NULL,
    terminal TEXT,
    origin TEXT,
    key TEXT NOT NULL,
    pid INTEGER NOT NULL,
    pid_start TEXT NOT NULL,
    read_only INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX attachments_by_session ON attachments (session, seq);
  `,
  // Earlier turns and replies are not in these tables, so digests cover only new ones.
  `
  CREATE TABLE turns (
    session TEXT NOT NULL,
    turn INTEGER NOT NULL,
    run INTEGER NOT NULL,
    began_seq INTEGER NOT NULL,
    began_at TEXT NOT NULL,
    ended_seq INTEGER,
    ended_at TEXT,
    failed_at TEXT,
    limited_seq INTEGER,
    limited_at TEXT,
    limited_text TEXT,
    PRIMARY KEY (session, turn)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE replies (
    session TEXT NOT NULL,
    run INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    told_at TEXT NOT NULL,
    reply TEXT NOT NULL,
    cut INTEGER NOT NULL,
    PRIMARY KEY (session, run)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE looks (
    session TEXT NOT NULL,
    principal TEXT NOT NULL,
    up_to INTEGER NOT NULL,
    at TEXT NOT NULL,
    head TEXT,
    PRIMARY KEY (session, principal)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX events_that_are_news ON events (session, seq) WHERE type IN (${NEWS_1});
  `,
  `
  ALTER TABLE sessions ADD COLUMN handover TEXT;
  `,
  `
  ALTER TABLE sessions ADD COLUMN forked_from TEXT;
  `,
  `
  ALTER TABLE runs ADD COLUMN transcript_offset INTEGER NOT NULL DEFAULT 0;
  `,
  `
  CREATE TABLE usage (
    seq INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    name TEXT NOT NULL,
    agent TEXT NOT NULL,
    run INTEGER NOT NULL,
    turn TEXT,
    model TEXT,
    at TEXT NOT NULL,
    input INTEGER,
    output INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    cost REAL,
    context_used INTEGER,
    context_size INTEGER,
    source TEXT NOT NULL,
    key TEXT
  ) STRICT;
  CREATE UNIQUE INDEX usage_by_key ON usage (session, key) WHERE key IS NOT NULL;
  CREATE INDEX usage_by_session ON usage (session, seq);
  CREATE INDEX usage_by_time ON usage (at);

  CREATE TABLE usage_places (
    session TEXT NOT NULL,
    place TEXT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (session, place)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE sessions ADD COLUMN budget TEXT;
  ALTER TABLE sessions ADD COLUMN budget_warned TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE sessions ADD COLUMN budget_exceeded TEXT;
  `,
  `
  ALTER TABLE sessions ADD COLUMN tasks_completed INTEGER NOT NULL DEFAULT 0;

  CREATE TABLE tasks (
    session TEXT NOT NULL,
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    file TEXT,
    label TEXT,
    turns INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    started_seq INTEGER NOT NULL,
    ended_at TEXT,
    ended_seq INTEGER,
    outcome TEXT,
    why TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tasks_by_session ON tasks (session, started_seq);
  CREATE INDEX tasks_by_file ON tasks (file) WHERE file IS NOT NULL;
  `,
  `
  DROP INDEX events_that_are_news;
  CREATE INDEX events_that_are_news_2 ON events (session, seq) WHERE type IN (${NEWS_2});
  `,
  `
  ALTER TABLE approvals ADD COLUMN always INTEGER NOT NULL DEFAULT 0;
  `,
  `
  CREATE TABLE groups (
    path TEXT PRIMARY KEY,
    member_limit INTEGER,
    created_at TEXT NOT NULL,
    created_by TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE group_members (
    path TEXT NOT NULL,
    session TEXT NOT NULL,
    joined_seq INTEGER NOT NULL,
    joined_at TEXT NOT NULL,
    coordinator INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (path, session)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX group_members_by_session ON group_members (session, joined_seq);

  CREATE TABLE group_values (
    path TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT,
    revision INTEGER NOT NULL,
    author TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (path, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX group_values_by_revision ON group_values (path, revision);

  CREATE TABLE group_revisions (
    tree TEXT PRIMARY KEY,
    revision INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX events_of_values ON events (json_extract(data, '$.group'), json_extract(data, '$.key'), seq)
    WHERE type IN ('group.value_shared', 'group.value_unset');
  CREATE INDEX events_of_coordinators ON events (json_extract(data, '$.group'), seq) WHERE type = 'group.coordinator_changed';
  CREATE INDEX events_of_removed_groups ON events (json_extract(data, '$.group'), seq) WHERE type = 'group.removed';

  ALTER TABLE usage ADD COLUMN groups TEXT;
  `,
  // A message to a person has no session.
  `
  CREATE TABLE messages_2 (
    id TEXT PRIMARY KEY,
    session TEXT,
    seq INTEGER NOT NULL,
    sender TEXT NOT NULL,
    text TEXT NOT NULL,
    steer INTEGER NOT NULL,
    state TEXT NOT NULL,
    open INTEGER NOT NULL DEFAULT 1,
    working INTEGER NOT NULL DEFAULT 0,
    run INTEGER,
    via TEXT,
    evidence TEXT,
    reply TEXT,
    why TEXT,
    hint TEXT,
    known INTEGER NOT NULL DEFAULT 1,
    queued_at TEXT NOT NULL,
    injected_at TEXT,
    turn_started_at TEXT,
    ended_at TEXT,
    addition TEXT,
    principal TEXT,
    group_path TEXT,
    role TEXT,
    sent TEXT,
    thread TEXT,
    reply_to TEXT,
    expires_at TEXT,
    due TEXT,
    doubt INTEGER NOT NULL DEFAULT 0,
    read_id TEXT
  ) STRICT, WITHOUT ROWID;
  INSERT INTO messages_2 (id, session, seq, sender, text, steer, state, open, working, run, via, evidence, reply, why, hint, known, queued_at,
    injected_at, turn_started_at, ended_at, addition)
  SELECT id, session, seq, sender, text, steer, state, open, working, run, via, evidence, reply, why, hint, known, queued_at, injected_at,
    turn_started_at, ended_at, addition FROM messages;
  DROP TABLE messages;
  ALTER TABLE messages_2 RENAME TO messages;
  CREATE INDEX messages_by_session ON messages (session, seq);
  CREATE INDEX messages_open ON messages (session, seq) WHERE open = 1;
  CREATE INDEX messages_by_person ON messages (principal, seq) WHERE principal IS NOT NULL;
  CREATE INDEX messages_by_seq ON messages (seq);
  CREATE INDEX messages_by_thread ON messages (thread, seq) WHERE thread IS NOT NULL;
  CREATE INDEX messages_by_sent ON messages (sent) WHERE sent IS NOT NULL;
  CREATE INDEX messages_by_reading ON messages (read_id, seq) WHERE read_id IS NOT NULL;
  CREATE INDEX messages_that_expire ON messages (expires_at) WHERE expires_at IS NOT NULL AND state = 'queued';
  `,
  `
  ALTER TABLE sessions ADD COLUMN report INTEGER NOT NULL DEFAULT 0;
  `,
  `
  ALTER TABLE sessions ADD COLUMN progress TEXT;
  `,
  `
  CREATE TABLE group_messages (
    id TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    path TEXT NOT NULL,
    role TEXT NOT NULL,
    sender TEXT NOT NULL,
    text TEXT NOT NULL,
    thread TEXT NOT NULL,
    reply_to TEXT,
    at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX group_messages_by_path ON group_messages (path, seq);
  `,
  `
  CREATE TABLE plans (
    file TEXT NOT NULL,
    what TEXT NOT NULL,
    ref TEXT NOT NULL,
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    said TEXT NOT NULL,
    at TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (file, what, ref, key)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE trust (
    directory TEXT NOT NULL,
    hash TEXT NOT NULL,
    setup TEXT,
    copy TEXT NOT NULL,
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (directory, hash)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE messages ADD COLUMN nonce TEXT;
  `,
  `
  ALTER TABLE tokens ADD COLUMN expired INTEGER NOT NULL DEFAULT 0;
  `,
  `
  ALTER TABLE usage ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage ADD COLUMN heir TEXT;
  CREATE INDEX usage_by_heir ON usage (heir) WHERE heir IS NOT NULL;
  `,
  `
  ALTER TABLE sessions ADD COLUMN prompted_run INTEGER;
  ALTER TABLE sessions ADD COLUMN spoken_run INTEGER;
  `,
  `
  ALTER TABLE groups ADD COLUMN goal TEXT;
  `,
  `
  ALTER TABLE sessions ADD COLUMN failure TEXT;
  UPDATE sessions SET failure = (
    SELECT json_object('what', 'ended', 'why', NULL, 'at', r.ended_at, 'seq', r.ended_seq) FROM runs r
    WHERE r.session = sessions.id AND r.run = sessions.run AND r.ended_seq IS NOT NULL)
  WHERE status IN ('failed', 'lost') AND viewed_at IS NULL;
  `,
  `
  ALTER TABLE trust ADD COLUMN agent TEXT;
  `,
  `
  ALTER TABLE groups ADD COLUMN goal_by TEXT;
  UPDATE groups SET goal_by = (
    SELECT e.actor FROM events e WHERE e.session IS NULL AND e.type IN ('group.created', 'group.goal_changed')
    AND json_extract(e.data, '$.group') = groups.path ORDER BY e.seq DESC LIMIT 1)
  WHERE goal IS NOT NULL;
  `,
  `
  ALTER TABLE messages ADD COLUMN turn_id TEXT;
  `,
  `
  ALTER TABLE sessions ADD COLUMN first_prompt TEXT;
  UPDATE sessions SET first_prompt = (
    SELECT substr(m.text, 1, 500) FROM events e JOIN messages m ON m.id = json_extract(e.data, '$.id')
    WHERE e.session = sessions.id AND e.type = 'message.injecting'
    AND NOT EXISTS (SELECT 1 FROM sessions c WHERE m.sender = 'session:' || c.id AND c.parent = sessions.id)
    ORDER BY e.seq LIMIT 1)
  WHERE objective IS NULL;
  `,
];
