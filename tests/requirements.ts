/**
 * Every promise of Holdfast as one testable sentence, with the issue that owns it. An id with several issues is proven part by part. A
 * test proves a part by ending its title with it: `detach leaves the agent running (SYM-02 spine)`. Items of mend and truth have a short
 * form: `(mend 10)` for `MEND-10 mend`. A full run fails when no passed test names a part of a landed issue.
 */
export const ISSUES = [
  "spine",
  "hosts",
  "durability",
  "agents",
  "workspaces",
  "resume",
  "conversations",
  "together",
  "mend",
  "truth",
  "plain",
  "later",
] as const;
export type Issue = (typeof ISSUES)[number];

export interface Requirement {
  id: `${"SYM" | "CAVE" | "GRP" | "BG" | "TURN" | "NEW" | "MEND" | "TRUTH"}-${string}`;
  issue: Issue;
  text: string;
  /** Proven by `npm run test:agents` or another suite, not by `npm test`. */
  suite?: Suite;
}

export type Suite = "agents" | "documentation" | "places" | "terminals" | "together" | "faults";

/** Issues whose promises hold today. */
export const LANDED: Issue[] = [
  "spine",
  "hosts",
  "durability",
  "agents",
  "workspaces",
  "resume",
  "conversations",
  "together",
  "mend",
  "truth",
  "plain",
];

export const REQUIREMENTS: Requirement[] = [
  // Agents that persist
  {
    id: "SYM-01",
    issue: "spine",
    text: "A session started from a terminal keeps working after that terminal is closed (SIGHUP) or the client is killed (SIGKILL).",
  },
  { id: "SYM-01", issue: "hosts", text: "A session started from a terminal keeps working after the SSH login ends." },
  {
    id: "SYM-02",
    issue: "spine",
    text: "spawn, list, attach, detach and stop work by name, by id and by unique id prefix; an ambiguous or unknown name is a clear error listing the candidates.",
  },
  {
    id: "SYM-03",
    issue: "agents",
    text: "A session's record keeps agent, kind, directory, owner, objective, role, status, created, last activity, turns and the agent's own conversation id, and survives a restart of every process.",
  },
  { id: "SYM-03", issue: "workspaces", text: "A session's record keeps its workspace.", suite: "places" },
  { id: "SYM-03", issue: "conversations", text: "A session's record keeps the tasks completed." },
  {
    id: "SYM-04",
    issue: "hosts",
    text: "The record is reconciled with what really runs, at start and continuously: a vanished process is noticed within 1 s (also after kill -9 of the tmux server or a holder, also when the daemon restarted meanwhile) and marked with exit code or signal, or `lost`; a process nobody recorded is reported as an orphan and adopted or stopped on request, never on a guess.",
  },
  { id: "SYM-05", issue: "agents", text: "Ten sessions of at least four different real agent programs run at once.", suite: "agents" },
  {
    id: "SYM-06",
    issue: "resume",
    text: "After a stop, a crash or a reboot of the machine, `resume` starts the next run of the same session with the agent's own resume flag and conversation id; the conversation goes on.",
  },
  {
    id: "SYM-07",
    issue: "resume",
    text: "A person who comes back gets a digest of what happened since they last looked: turns, commits, files changed, tasks finished, approvals waiting.",
    suite: "places",
  },
  { id: "SYM-07", issue: "conversations", text: "The digest says cost and tasks." },
  { id: "SYM-08", issue: "resume", text: "Conversations have names, and one agent can hold several in the same directory." },
  { id: "SYM-09", issue: "later", text: "Tasks queue up for agents while nobody is connected; progress is reported; completion notifies." },
  {
    id: "SYM-10",
    issue: "resume",
    text: "Several terminals and principals attach to one session at once, some only observing. One drives at a time; control can be requested, handed over and taken, and everybody sees who drives.",
    suite: "places",
  },
  { id: "SYM-10", issue: "later", text: "Browsers attach too." },
  {
    id: "SYM-11",
    issue: "resume",
    text: "A session is handed to another principal with its whole history and a hand-over note.",
    suite: "places",
  },
  {
    id: "SYM-12",
    issue: "hosts",
    text: "Without tmux everything works on the native host; a command that needs tmux says so and says how to get it.",
  },
  { id: "SYM-13", issue: "hosts", text: "Restart policies (never, on-failure, always) with back-off and a crash-loop breaker." },
  {
    id: "SYM-13",
    issue: "agents",
    text: "A hung agent (working, but no output and no progress past a limit) gets an event and an attention mark.",
  },
  {
    id: "SYM-14",
    issue: "together",
    text: "Agents delegate: a session creates child sessions, sees their results, and stopping the parent can stop the tree.",
    suite: "together",
  },
  {
    id: "SYM-15",
    issue: "later",
    text: "VS Code: tree of sessions with status, directory and last activity; status bar count; attach opens an integrated terminal; spawn from a folder; stop; approvals; a crash shown plainly; closing and reopening the window loses nothing.",
  },
  { id: "SYM-16", issue: "later", text: "VS Code: removing a project's folder offers to clean up its sessions and workspaces." },
  { id: "SYM-17", issue: "resume", text: "Everything in the CLI works over SSH with nothing but the CLI on the far end.", suite: "places" },
  { id: "SYM-18", issue: "mend", text: "Amazon Q CLI resumes its conversation, shows its status and receives messages." },
  {
    id: "SYM-19",
    issue: "mend",
    text: "When a project's directory is gone, Holdfast offers to clean up its sessions and workspaces.",
    suite: "places",
  },

  // Isolated workspaces and the session interface
  {
    id: "CAVE-01",
    issue: "workspaces",
    text: "A workspace is a git worktree on its own branch (or a plain directory); two agents in two workspaces never see each other's uncommitted files.",
    suite: "places",
  },
  {
    id: "CAVE-02",
    issue: "workspaces",
    text: "create, list, show, diff, merge and remove a workspace. Remove refuses, with the list of what would be lost, when files are uncommitted, commits are unmerged and unpushed, or a session lives there; `--force` keeps a recovery ref.",
    suite: "places",
  },
  {
    id: "CAVE-03",
    issue: "workspaces",
    text: "Each workspace has the Working Context: background.md, plan.md, working-log.md, results-summary.md; readable and writable by people and agents, portable between agents of different makers.",
  },
  {
    id: "CAVE-04",
    issue: "together",
    text: "The library interface has create, get, list and remove for sessions, and id, workspace, status, start, stop, send input and get output on each.",
    suite: "together",
  },
  {
    id: "CAVE-05",
    issue: "agents",
    text: "A new kind of agent is added by one profile, without changing code elsewhere; a user adds one in the configuration file.",
  },
  {
    id: "CAVE-06",
    issue: "hosts",
    text: "Nothing that a run started outlives an explicit stop: descendants, setsid and double-forked children, programs that overwrite their title; what can still escape is documented and shown by `doctor`.",
  },
  { id: "CAVE-07", issue: "later", text: "The dashboard shows all sessions live in a browser." },
  { id: "CAVE-08", issue: "hosts", text: "Hosts are exchangeable: one suite passes on tmux and on the native host." },
  {
    id: "CAVE-09",
    issue: "workspaces",
    text: "Conflict radar: live workspaces of one repository are checked against each other for merge conflicts before anybody merges.",
    suite: "places",
  },
  { id: "CAVE-10", issue: "mend", text: "A session can be created without being started, and started later." },

  // Coordination
  {
    id: "GRP-01",
    issue: "together",
    text: "join, leave, peers and list for groups; a session may be in several; a session in none works exactly as before.",
    suite: "together",
  },
  {
    id: "GRP-02",
    issue: "together",
    text: "Shared context: JSON values under keys, each with a revision, author and time; set, get, list, delete; compare-and-set refuses a stale write and returns the current value; changes are events.",
    suite: "together",
  },
  {
    id: "GRP-03",
    issue: "together",
    text: "A group has a coordinator; it is handed over explicitly, and automatically when the coordinator ends.",
    suite: "together",
  },
  { id: "GRP-04", issue: "together", text: "32 members by default, configurable; the limit's error says the limit.", suite: "together" },
  {
    id: "GRP-05",
    issue: "together",
    text: "Messages: to one peer, to the group, to the coordinator; with receipts queued → injected → turn started → replied (or failed, with why). Nothing is ever reported further than it got.",
    suite: "together",
  },
  {
    id: "GRP-06",
    issue: "agents",
    text: "A message never garbles what a person is typing and never interrupts a turn unless asked to steer.",
  },
  { id: "GRP-07", issue: "together", text: "Group state survives restarts, and members that ended are shown as ended.", suite: "together" },
  {
    id: "GRP-08",
    issue: "together",
    text: "Progress is aggregated over members: sessions by status, turns, tokens, cost.",
    suite: "together",
  },
  { id: "GRP-08", issue: "later", text: "Tasks are aggregated by status." },
  {
    id: "GRP-09",
    issue: "together",
    text: "Groups nest (`team/research`): a message or a context key of the parent reaches the children; the reverse does not happen by itself.",
    suite: "together",
  },
  {
    id: "GRP-10",
    issue: "together",
    text: "Every group verb is an MCP tool, so the agents coordinate themselves, whoever made them.",
    suite: "together",
  },
  {
    id: "GRP-11",
    issue: "together",
    text: "64 sessions in one group share 1,000 keys and exchange 10,000 messages with none lost, none twice, and order kept per sender.",
    suite: "together",
  },
  {
    id: "GRP-12",
    issue: "together",
    text: "The log of messages and the group's metrics (time to reply, cost) can be read later.",
    suite: "together",
  },
  { id: "GRP-12", issue: "later", text: "The log of messages and the group's metrics can be searched." },
  { id: "GRP-13", issue: "mend", text: "A group has a shared goal that its members are told, and a state derived from its coordinator." },

  // Background shells, subagents and the SDK
  {
    id: "BG-01",
    issue: "spine",
    text: "A background shell starts detached, returns its id at once, streams its output to disk, and keeps exit code, duration, pid and path of the output.",
  },
  {
    id: "BG-02",
    issue: "hosts",
    text: "One stop verb: SIGTERM to every process of the run, SIGKILL after a grace period, returning when all are gone.",
  },
  { id: "BG-02", issue: "together", text: "The stop verb is the same for shells, agents and children.", suite: "together" },
  { id: "BG-03", issue: "spine", text: "One lifecycle vocabulary for all kinds of session." },
  {
    id: "BG-04",
    issue: "spine",
    text: "Typed session events; subscribers resume from epoch and sequence number with no gap and no duplicate.",
    suite: "together",
  },
  { id: "BG-04", issue: "agents", text: "Typed approval and message events." },
  { id: "BG-04", issue: "conversations", text: "Typed turn, tool call (started, output, completed) and usage events." },
  { id: "BG-05", issue: "later", text: "Notifications that nobody has seen are kept and drained once per subscriber." },
  { id: "BG-06", issue: "agents", text: "send_message into a running agent, from a person or a program." },
  { id: "BG-06", issue: "together", text: "send_message into a running agent, from another agent.", suite: "together" },
  {
    id: "BG-07",
    issue: "together",
    text: "event_monitor: a running session's output or events streamed to a caller at a bounded rate (burst and refill), with what was dropped counted.",
    suite: "together",
  },
  { id: "BG-08", issue: "conversations", text: "A transcript per agent, readable while it grows, page by page." },
  {
    id: "BG-09",
    issue: "conversations",
    text: "Budgets per session: turns, minutes, tokens, cost. Near a limit warns, at a limit stops cleanly, and the event says which limit.",
  },
  { id: "BG-10", issue: "conversations", text: "A background agent that was alive when its machine stopped is resumed and continues." },
  {
    id: "BG-11",
    issue: "spine",
    text: "The pool view: everything running and recent, with status, duration, output path, pid, in the CLI.",
  },
  { id: "BG-11", issue: "later", text: "The pool view in the TUI and the browser." },
  {
    id: "BG-12",
    issue: "together",
    text: "SDK: query() is an async iterable of typed events with a final result; progress callback; cwd without process.chdir; model override per call; usage per call and rolled up; cost from a price table the user can edit.",
    suite: "together",
  },
  {
    id: "BG-13",
    issue: "together",
    text: "SDK: cancelling drains the model request, the background shells and partial writes, and ends in a typed AbortError; a scan by run marker finds nothing left.",
    suite: "together",
  },
  {
    id: "BG-14",
    issue: "together",
    text: "SDK: typed errors tell timeout, tool failure, authentication, budget, crash, unreachable daemon and refused permission apart.",
    suite: "together",
  },
  {
    id: "BG-15",
    issue: "conversations",
    text: "A gateway (any OpenAI-compatible endpoint, LiteLLM among them) serves the built-in agent; a smoke test runs against a scripted one.",
  },
  {
    id: "BG-16",
    issue: "durability",
    text: "Old records are pruned by age and size, by policy; running sessions, and ended ones nobody has looked at since they ended, never are.",
    suite: "faults",
  },
  {
    id: "BG-17",
    issue: "agents",
    text: "Permission requests of a background agent are parked, not denied: they wait in the approvals inbox and can be answered from any client or by policy, within a scope and with an audit trail.",
  },
  { id: "BG-17", issue: "together", text: "Permission requests can be answered by the parent agent too.", suite: "together" },
  {
    id: "BG-18",
    issue: "mend",
    text: "Agents can read transcripts through a tool; background agents have defaults of their own (model, approval policy).",
  },

  // Conversations of many turns
  {
    id: "TURN-01",
    issue: "conversations",
    text: "`chat` opens an interactive conversation with any agent or persona; history, line editing, multi-line input, and a status line with turn count, tokens and cost.",
  },
  {
    id: "TURN-02",
    issue: "conversations",
    text: "/help, /exit, /save FILE, /history, /clear, and the rest of what a REPL user expects (/cancel, /model, /status, /sessions, /approve).",
  },
  {
    id: "TURN-03",
    issue: "conversations",
    text: "Follow-ups see the whole conversation, also after leaving and resuming by name or id, also after the daemon was killed.",
  },
  {
    id: "TURN-04",
    issue: "conversations",
    text: "Task files: markdown checklists; `<!-- agent: X -->`, `<!-- turns: N -->`, `Turn k: …`; single-shot without them. Dependencies between items. Boxes are ticked atomically as items finish; a rerun does only what is left.",
  },
  {
    id: "TURN-05",
    issue: "conversations",
    text: "For agents without memory of their own (one-shot commands, bare models) the context is kept for them: first 2 and last 10 turns by default, configurable, with a token limit; a warning at 80 %; the full transcript is never trimmed.",
  },
  { id: "TURN-06", issue: "conversations", text: "Running token count and cost; limits on turns and tokens." },
  {
    id: "TURN-07",
    issue: "conversations",
    text: "Transcripts are JSONL, append-only, validated on load; a torn last line is cut off and reported, not fatal; a damaged file is kept aside and what is readable is recovered.",
  },
  {
    id: "TURN-08",
    issue: "conversations",
    text: "Ctrl+C during an answer cancels it, keeps the partial answer marked as such, and returns to the prompt.",
  },
  {
    id: "TURN-09",
    issue: "conversations",
    text: "Conversations expire by policy (30 days by default), with a dry run and an explicit clean; unseen ones excepted.",
  },
  {
    id: "TURN-10",
    issue: "conversations",
    text: "A failing network, a wrong key, a rate limit and a malformed answer each give a clear error, keep the conversation, and can be retried.",
  },
  {
    id: "TURN-11",
    issue: "conversations",
    text: "Personas are markdown files with front matter, in the project or the user's configuration; the agent definition files that Claude Code users already have work as they are.",
  },
  { id: "TURN-12", issue: "conversations", text: "New code of this area has at least 95 % line coverage." },

  // What Holdfast adds
  {
    id: "NEW-01",
    issue: "spine",
    text: "Kill -9 of the daemon at any moment loses no output and no event; agents do not notice; a restart shows everything within 1 s at 100 sessions.",
  },
  { id: "NEW-01", issue: "together", text: "Kill -9 of the daemon at any moment loses no message.", suite: "together" },
  {
    id: "NEW-02",
    issue: "resume",
    text: "Restore after a reboot or a killed tmux server is a transaction: a report of what came back, what did not and why; a failed resume never erases the conversation id; it can be run again.",
  },
  {
    id: "NEW-03",
    issue: "agents",
    text: "Status is evidence, not a guess: process, turn, attention and background work are separate, each with its source and age; `explain` prints why; unknown is a value.",
  },
  { id: "NEW-04", issue: "agents", text: "One approvals inbox for terminal agents." },
  { id: "NEW-04", issue: "conversations", text: "The approvals inbox has those of structured agents too." },
  {
    id: "NEW-05",
    issue: "together",
    text: "Each agent gets a token of its own that can do only what it was granted (its children, its groups), and inside a run nothing of ours acts as owner; the audit log says who did what.",
    suite: "together",
  },
  { id: "NEW-06", issue: "later", text: "Full-text search over all transcripts, messages and terminal output." },
  { id: "NEW-07", issue: "durability", text: "Any terminal session can be replayed and exported as an asciicast." },
  {
    id: "NEW-08",
    issue: "later",
    text: "The same session is open in a terminal, a browser, VS Code, the SDK and another agent at the same time.",
  },
  {
    id: "NEW-09",
    issue: "later",
    text: "Many machines as one fleet on NATS JetStream: list, attach, send, queue and groups across machines; one that dies gives its queued tasks back.",
  },
  {
    id: "NEW-10",
    issue: "later",
    text: "Quota-aware scheduling: a rate-limited agent's work parks until the reset or moves to another agent.",
  },
  {
    id: "NEW-11",
    issue: "agents",
    text: "`next` jumps to the session that has waited longest for a person, from the shell and, by a key, while attached.",
  },
  {
    id: "NEW-12",
    issue: "workspaces",
    text: "A checkpoint of the workspace at each turn; diff between any two; rewind to one.",
    suite: "places",
  },
  {
    id: "NEW-13",
    issue: "workspaces",
    text: "Start N agents on one prompt in N workspaces, compare what they did, keep one.",
    suite: "places",
  },
  { id: "NEW-13", issue: "resume", text: "Fork a session with a copy of its conversation.", suite: "places" },
  {
    id: "NEW-14",
    issue: "hosts",
    text: "CPU and memory per session are shown; limits can be set; an out-of-memory kill is named as the cause.",
  },
  {
    id: "NEW-15",
    issue: "together",
    text: "`apply FILE` brings up a declared set of sessions and groups, and a second time changes nothing.",
    suite: "together",
  },
  {
    id: "NEW-16",
    issue: "later",
    text: "Secrets are redacted in transcripts, search, events and shared links; recordings stay local and 0600.",
  },
  { id: "NEW-17", issue: "plain", text: "Every command in README and guides runs as written.", suite: "documentation" },
  {
    id: "NEW-18",
    issue: "plain",
    text: "Someone who has never seen Holdfast gets from clone to an answered approval with the README alone.",
    suite: "documentation",
  },

  // Promises that broke at the edges of 0.1.0
  { id: "MEND-01", issue: "mend", text: "A key acts on the client that pressed it, with that client's principal and rights." },
  { id: "MEND-02", issue: "mend", text: "No terminal opened under a token shows a session that the token cannot reach." },
  { id: "MEND-03", issue: "mend", text: "Git runs nothing that an agent planted in a repository or a worktree." },
  { id: "MEND-04", issue: "mend", text: "Every request body and every frame has a limit that applies before it is buffered." },
  { id: "MEND-05", issue: "mend", text: "A repository's commands and copies need trust, once for each content." },
  { id: "MEND-06", issue: "mend", text: "The inbox, confirmations and the audit show what will be executed." },
  { id: "MEND-07", issue: "mend", text: "Inside a run without a token, commands are refused." },
  {
    id: "MEND-08",
    issue: "mend",
    text: "Expired tokens stay expired, messages cannot imitate the user, and control characters do not reach a terminal.",
  },
  { id: "MEND-09", issue: "mend", text: "Bad input gets a 4xx reply in the documented form, and run tokens write no plan records." },
  { id: "MEND-10", issue: "mend", text: "The end of the program ends the run, on every host." },
  { id: "MEND-11", issue: "mend", text: "The same prompt is never handed to a program twice without an explicit request." },
  { id: "MEND-12", issue: "mend", text: "A session that only redraws its screen is reported as hung." },
  { id: "MEND-13", issue: "mend", text: "resume and cancel report what really happened." },
  { id: "MEND-14", issue: "mend", text: "Failed sessions and turns stay visible until someone has looked." },
  { id: "MEND-15", issue: "mend", text: "Token and cost limits hold within a turn, for every kind of session, and include children." },
  { id: "MEND-16", issue: "mend", text: "chat and resume apply every option on an existing session, or refuse it." },
  { id: "MEND-17", issue: "mend", text: "Trust and login dialogs are listed in the inbox and answered from there." },
  { id: "MEND-18", issue: "mend", text: "Errors name the cause that is known." },
  { id: "MEND-19", issue: "mend", text: "Files in checkouts and worktrees get the user's umask.", suite: "places" },
  { id: "MEND-20", issue: "mend", text: "Work in a stash, in uncommitted files and in dirty submodules is not lost." },
  { id: "MEND-21", issue: "mend", text: "query, stop, rm, resume and restore leave no second copy and no child behind." },
  { id: "MEND-22", issue: "mend", text: "Mail to a coordinator follows the role; group log and wait_ms cover every message." },
  { id: "MEND-23", issue: "mend", text: "Damaged transcripts are noticed, and rm --all and stop --all ask first." },
  {
    id: "MEND-24",
    issue: "mend",
    text: "Missing repositories, silent tmux servers, adopted agents, odd homes and foreign databases are handled.",
  },
  { id: "MEND-25", issue: "mend", text: "Amazon Q CLI has resume, status and delivery." },
  { id: "TRUTH-01", issue: "truth", text: "An answer to a permission request that had no effect opens the request again." },
  { id: "TRUTH-02", issue: "truth", text: "A status does not alternate while an agent waits for a limit." },
  { id: "TRUTH-03", issue: "truth", text: "Words of an earlier turn on the screen say nothing about the turn that runs." },
  { id: "TRUTH-04", issue: "truth", text: "Background work is reported when it begins and when it ends." },
  { id: "TRUTH-05", issue: "truth", text: "An answer to a permission request claims nothing about the turn." },
  { id: "TRUTH-06", issue: "truth", text: "A screen that begins to move is looked at once, and short turns are counted." },
  { id: "TRUTH-07", issue: "truth", text: "After /clear the new conversation is the one that is shown and resumed." },
  { id: "TRUTH-08", issue: "truth", text: "A reply belongs to the turn of its own prompt, and a new prompt closes earlier ones." },
  { id: "TRUTH-09", issue: "truth", text: "A rate limit that an agent shows is named." },
  { id: "TRUTH-10", issue: "truth", text: "Dialogs and composers are recognised in every mode, width, colour and language of an agent." },
  { id: "TRUTH-11", issue: "truth", text: "A spinner at the start is no turn, and an answer that an agent wrote down is an answer." },
  {
    id: "TRUTH-12",
    issue: "truth",
    text: "Receipts, status and replies are the same on every host, in adopted sessions and under subagents.",
  },
];
