/**
 * All errors of Holdfast as data: one code, one HTTP status, one CLI exit code. Exit codes are stable, because scripts depend on them. docs/ERRORS.md
 * is generated from this table. No schema library here: the CLI's hot path loads this file.
 */
export const ERRORS = {
  internal: { http: 500, exit: 1, what: "A defect or an unexpected condition. The daemon's log has details." },
  usage: { http: 400, exit: 2, what: "The command line or the request is malformed." },
  invalid_name: { http: 400, exit: 2, what: "The session name is not allowed." },
  session_not_found: { http: 404, exit: 3, what: "No session has that name, id or id prefix." },
  session_removed: { http: 410, exit: 32, what: "The session was removed while a client waited for it." },
  session_ambiguous: { http: 409, exit: 4, what: "The id prefix matches several sessions." },
  name_taken: { http: 409, exit: 5, what: "Another session or token has that name." },
  session_running: { http: 409, exit: 6, what: "The action needs a session that has ended." },
  session_damaged: { http: 409, exit: 6, what: "The files for a new run are damaged or missing." },
  conversation_unknown: { http: 409, exit: 6, what: "The session has no conversation to continue." },
  budget_spent: { http: 409, exit: 35, what: "The session has reached a limit of its budget. `resume --budget` raises it." },
  fork_refused: { http: 409, exit: 6, what: "The session's conversation cannot be copied. Nothing was started." },
  has_no_terminal: { http: 409, exit: 6, what: "The session is a conversation: it has no screen and takes no keys." },
  not_a_conversation: {
    http: 409,
    exit: 6,
    what: "The session is a terminal session: it has no transcript and no conversation settings.",
  },
  not_offered: { http: 409, exit: 6, what: "The agent does not support the request: another mode, another model, an interruption." },
  turn_runs: { http: 409, exit: 6, what: "The action needs a conversation whose turn has ended." },
  turn_failed: { http: 502, exit: 35, what: "The turn failed, or its agent ended. The transcript has the output so far." },
  turn_refused: { http: 422, exit: 36, what: "The agent refused to continue the turn." },
  turn_cancelled: { http: 409, exit: 37, what: "The turn was cancelled. The transcript has the output so far." },
  cancel_ignored: {
    http: 409,
    exit: 47,
    what: "The agent keeps working although its turn was cancelled. `details.steps` lists the attempts. `stop` ends the session.",
  },
  turn_cut: { http: 422, exit: 38, what: "The answer was cut off at a limit of tokens or requests." },
  agent_crashed: { http: 502, exit: 35, what: "The agent ended during its turn, or did not start." },
  agent_unauthenticated: { http: 502, exit: 35, what: "The agent is not logged in, or the model provider rejected its key." },
  rate_limited: {
    http: 429,
    exit: 35,
    what: "The model provider refuses requests for now: too many requests, or the credit is used up.",
  },
  tool_failed: { http: 502, exit: 35, what: "A tool call of the agent failed, and the caller asked to end the turn on that." },
  permission_refused: {
    http: 403,
    exit: 20,
    what: "A permission request of the agent was denied, and the caller asked to end the turn on that.",
  },
  aborted: { http: 499, exit: 37, what: "The caller cancelled the request." },
  session_ended: { http: 409, exit: 6, what: "The action needs a session that is running." },
  orphan_not_found: { http: 404, exit: 3, what: "No orphan has that id, or it has ended." },
  orphan_not_adoptable: {
    http: 409,
    exit: 6,
    what: "The orphan's terminal has no keeper, or its session files are gone. It can only be stopped.",
  },
  not_adoptable: {
    http: 409,
    exit: 6,
    what: "The process to adopt does not exist, is already a session, or is not an agent that Holdfast can adopt.",
  },
  not_in_reach: { http: 409, exit: 6, what: "The terminal of an adopted agent cannot be reached, or Holdfast may not change it." },
  unauthenticated: {
    http: 401,
    exit: 22,
    what: "The token is missing (required inside a run), wrong, expired or revoked, or its run has ended.",
  },
  forbidden: {
    http: 403,
    exit: 20,
    what: "The caller may not do that: its scope is too small, or the session is not its own or its child.",
  },
  token_not_found: { http: 404, exit: 3, what: "No active token has that name or id." },
  approval_not_found: { http: 404, exit: 3, what: "No approval has that id, and no session of that name waits for one." },
  approval_ambiguous: {
    http: 409,
    exit: 4,
    what: "The name matches several approvals: an id prefix of several, or a session with several open approvals.",
  },
  approval_over: { http: 409, exit: 27, what: "The approval was already answered, or the agent no longer waits for it." },
  approval_changed: {
    http: 409,
    exit: 27,
    what: "The agent's request changed after it was shown to the person who answered. Nothing was decided.",
  },
  approval_unanswerable: { http: 409, exit: 27, what: "The agent does not accept this answer from the inbox. Answer on its own screen." },
  address_public: { http: 400, exit: 2, what: "Other machines can reach that address. Pass --insecure-public to allow it." },
  address_unusable: { http: 409, exit: 21, what: "The daemon cannot listen on that address." },
  agent_unknown: { http: 422, exit: 7, what: "No profile has that agent name." },
  agent_too_old: { http: 422, exit: 7, what: "The installed version of the agent is too old for the request. The hint names the update." },
  persona_not_found: { http: 404, exit: 3, what: "No persona has that name." },
  persona_unusable: { http: 422, exit: 7, what: "The persona's file is not valid. The message says where and why." },
  program_not_found: {
    http: 422,
    exit: 7,
    what: "The program is not on the session's PATH or cannot be executed. `details.install` is the command that installs it, if known.",
  },
  cwd_unusable: { http: 422, exit: 7, what: "The working directory does not exist or cannot be entered." },
  host_missing: { http: 503, exit: 8, what: "The requested host (tmux) is not installed on this machine." },
  host_failed: { http: 500, exit: 8, what: "The keeper refused or failed; nothing was started." },
  stop_incomplete: { http: 500, exit: 9, what: "Processes of the run were still alive after SIGKILL." },
  daemon_unreachable: { http: 503, exit: 10, what: "The daemon did not start or does not answer." },
  daemon_ended: { http: 503, exit: 10, what: "The daemon was stopped on request while the command followed it." },
  client_outdated: { http: 426, exit: 11, what: "The daemon is newer than this CLI." },
  daemon_outdated: { http: 426, exit: 11, what: "The daemon is older than this CLI, and the CLI replaces it." },
  node_too_old: { http: 500, exit: 12, what: "Node is older than Holdfast needs." },
  cursor_gone: { http: 410, exit: 13, what: "The cursor belongs to another epoch. Take a new snapshot." },
  home_unusable: { http: 500, exit: 14, what: "HOLDFAST_HOME or the socket directory cannot be used safely." },
  recording_cut: { http: 410, exit: 13, what: "Part of the output from that offset was deleted. Ask where the recording begins now." },
  generation_not_found: { http: 404, exit: 3, what: "No loss has that number, or it is too old." },
  restore_running: { http: 409, exit: 6, what: "A restore is already in progress." },
  restore_incomplete: {
    http: 409,
    exit: 34,
    what: "Some sessions did not come back. The reply lists each one, and each can be tried again.",
  },
  backup_not_found: { http: 404, exit: 3, what: "No backup has that name." },
  backup_unusable: { http: 409, exit: 18, what: "The backup is damaged, or was made by a newer Holdfast." },
  backup_failed: { http: 500, exit: 18, what: "The backup could not be taken. Nothing was changed." },
  journal_damaged: { http: 503, exit: 18, what: "The journal's database is damaged. The daemon restores it at its next start." },
  disk_full: { http: 507, exit: 19, what: "The disk that holds the home is full. Nothing can be written." },
  home_read_only: { http: 507, exit: 19, what: "The home is on a read-only file system." },
  no_descriptors: { http: 503, exit: 19, what: "The process or the machine has no file descriptors left." },
  status_unknown: { http: 409, exit: 23, what: "The agent's status is not known, so a command cannot wait for it." },
  nothing_waits: { http: 404, exit: 24, what: "No session waits for a person." },
  timeout: { http: 504, exit: 16, what: "The awaited event did not happen in time." },
  principal_unknown: { http: 404, exit: 3, what: "No user or token of that name can act here." },
  control_held: { http: 409, exit: 33, what: "Another terminal drives the session. Ask for control with `holdfast control request`." },
  not_attached: { http: 409, exit: 6, what: "Control can only go to an attached terminal, and none matches." },
  paste_refused: {
    http: 409,
    exit: 17,
    what: "The text has several lines, and the program would run each line as a command. --force types it anyway.",
  },
  input_full: { http: 409, exit: 17, what: "The program has not read most of the earlier input. Nothing was typed." },
  approval_waits: {
    http: 409,
    exit: 17,
    what: "The agent waits for an approval, and typed input could answer it. --force types it anyway.",
  },
  message_not_found: { http: 404, exit: 3, what: "No message has that id." },
  message_gone: { http: 409, exit: 6, what: "The message is no longer queued and cannot be taken back." },
  message_failed: { http: 409, exit: 25, what: "The message did not reach the agent, or its turn failed." },
  message_unknown: { http: 409, exit: 26, what: "It is not known whether the agent received or answered the message." },
  reply_unknown: {
    http: 404,
    exit: 26,
    what: "The agent's last answer is not known: it has not answered yet, or does not report its answers.",
  },
  workspace_not_found: { http: 404, exit: 3, what: "No workspace has that name, id or id prefix." },
  workspace_ambiguous: { http: 409, exit: 4, what: "The id prefix matches several workspaces." },
  workspace_lived_in: { http: 409, exit: 6, what: "Sessions use the workspace. Stop them first." },
  workspace_removed: { http: 409, exit: 6, what: "The workspace was removed, or its directory is gone." },
  repository_unusable: {
    http: 422,
    exit: 7,
    what: "The repository, branch or base does not allow it: no commit yet, a branch in use, an unknown base.",
  },
  git_failed: { http: 500, exit: 28, what: "Git is missing or failed. The message is git's own." },
  would_lose_work: { http: 409, exit: 29, what: "Uncommitted, unmerged or used files would be lost. --force keeps a way back." },
  merge_conflict: { http: 409, exit: 30, what: "Both sides changed the same lines. Nothing was changed." },
  merge_refused: {
    http: 409,
    exit: 30,
    what: "The base has uncommitted changes or has moved on, or there is nothing to merge. Nothing was changed.",
  },
  not_trusted: {
    http: 403,
    exit: 48,
    what: "The project's .holdfast/config.toml runs commands or copies files that nobody has trusted yet. Nothing was created. `details` has `directory`, `tree`, `file`, `setup`, `copy` and `hash`.",
  },
  trust_not_found: { http: 404, exit: 3, what: "That directory is not trusted, or no trust has that hash." },
  setup_failed: {
    http: 422,
    exit: 31,
    what: "The set-up command of .holdfast/config.toml failed. The workspace and the command's output are kept.",
  },
  rewind_refused: {
    http: 409,
    exit: 30,
    what: "A session in the workspace is in a turn, a merge or rebase is in progress, or a file that cannot be kept is in the way. Nothing was changed.",
  },
  checkpoint_not_found: { http: 404, exit: 3, what: "The workspace has no such checkpoint." },
  tournament_not_found: { http: 404, exit: 3, what: "No tournament and no entry has that name or id." },
  tournament_kept: { http: 409, exit: 6, what: "Another entry of the tournament was already kept." },
  task_file_invalid: { http: 400, exit: 2, what: "The task file is not valid. The message says where and what was expected." },
  task_item_gone: { http: 409, exit: 35, what: "A finished item is no longer in the task file, so its box was not checked off." },
  task_failed: {
    http: 409,
    exit: 35,
    what: "Some items of the task file failed. The output lists each one, and another run does the rest.",
  },
  plan_invalid: { http: 400, exit: 2, what: "The plan file is not valid. The message says where and what was expected." },
  task_not_found: { http: 404, exit: 3, what: "No task has that id." },
  group_not_found: { http: 404, exit: 3, what: "No group has that path." },
  group_exists: { http: 409, exit: 5, what: "A group with that path already exists." },
  group_in_use: { http: 409, exit: 6, what: "The group has live members or subgroups. --force removes all of them from it." },
  group_full: { http: 409, exit: 44, what: "The group is full. No session was added." },
  not_a_member: { http: 409, exit: 6, what: "The session is not a member of the group." },
  group_empty: { http: 409, exit: 6, what: "No other member of the group is alive, or the group has no coordinator. Nothing was sent." },
  value_not_found: { http: 404, exit: 3, what: "Neither the group nor a group above it has a value with that key." },
  stale_value: {
    http: 409,
    exit: 45,
    what: "The value changed after it was read. Nothing was written. `details.current` has the current value; null means the key does not exist.",
  },
  value_too_large: { http: 413, exit: 46, what: "A shared value has at most 64 KB as JSON. Nothing was written." },
  too_many_keys: { http: 409, exit: 46, what: "A group has at most 1,000 values. Nothing was written." },
  body_too_large: { http: 413, exit: 46, what: "The request's body is larger than the endpoint allows. Nothing was done." },
  daemon_busy: { http: 503, exit: 10, what: "The daemon is handling too many large requests. Nothing was done. Try again." },
  context_not_found: { http: 404, exit: 3, what: "The directory has no Working Context." },
  context_changed: { http: 409, exit: 6, what: "The Working Context file changed after it was read. Nothing was written." },
  file_exists: { http: 409, exit: 5, what: "The output file already exists. --force replaces it." },
  file_unusable: { http: 500, exit: 14, what: "The file cannot be written at that path." },
  machine_unreachable: { http: 503, exit: 40, what: "The remote machine could not be reached by ssh, or the connection was lost." },
  machine_lost: {
    http: 503,
    exit: 43,
    what: "The connection to the remote machine broke before the reply. It is not known whether the request was done.",
  },
  machine_refused: {
    http: 403,
    exit: 41,
    what: "The remote machine rejected the ssh login, or its host key does not match the known one.",
  },
  machine_without_holdfast: { http: 503, exit: 42, what: "Holdfast is not installed on the remote machine, or was not found there." },
  machine_other_version: {
    http: 426,
    exit: 11,
    what: "The remote machine runs another version of Holdfast, and this command needs the same version.",
  },
  not_a_terminal: { http: 400, exit: 15, what: "The command needs a terminal on standard input and output." },
} as const satisfies Record<string, { http: number; exit: number; what: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** The error in a failed reply, and on standard error with `--json`. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  hint?: string;
  candidates?: string[];
  details?: Record<string, unknown>;
}

interface More {
  hint?: string | undefined;
  candidates?: string[] | undefined;
  details?: Record<string, unknown> | undefined;
  cause?: unknown;
}

export class HoldfastError extends Error {
  override readonly name: string = "HoldfastError";
  readonly code: ErrorCode;
  /** The next step, as a sentence or a command. */
  declare readonly hint: string | undefined;
  /** Similar names, with `session_not_found` and `session_ambiguous`. */
  declare readonly candidates: string[] | undefined;
  /** Data for programs; the table above describes it for each code. */
  declare readonly details: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, message: string, more: More = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    // Undefined fields are omitted, because Node prints all fields of an error.
    if (more.hint !== undefined) this.hint = more.hint;
    if (more.candidates !== undefined) this.candidates = more.candidates;
    if (more.details !== undefined) this.details = more.details;
  }

  get httpStatus(): number {
    return ERRORS[this.code].http;
  }

  get exitCode(): number {
    return ERRORS[this.code].exit;
  }

  toBody(): ErrorBody {
    return {
      code: this.code,
      message: this.message,
      ...(this.hint === undefined ? {} : { hint: this.hint }),
      ...(this.candidates === undefined ? {} : { candidates: this.candidates }),
      ...(this.details === undefined ? {} : { details: this.details }),
    };
  }

  /** The error of a failed reply. An unknown code, as from a newer daemon, becomes `internal`. */
  static fromBody(body: Partial<Omit<ErrorBody, "code">> & { code?: string }): HoldfastError {
    return errorOfBody(body);
  }

  /** Wraps any thrown value; a HoldfastError is returned unchanged. */
  static from(thrown: unknown): HoldfastError {
    return wrapped(thrown);
  }
}

// Outside the class: the bundler renames a class that refers to itself, and the new name would appear in every stack trace.
function errorOfBody({ code: name, message, ...more }: Parameters<typeof HoldfastError.fromBody>[0]): HoldfastError {
  const code = name !== undefined && Object.hasOwn(ERRORS, name) ? (name as ErrorCode) : "internal";
  return new HoldfastError(code, message ?? "the daemon gave no reason", more);
}

function wrapped(thrown: unknown): HoldfastError {
  if (thrown instanceof HoldfastError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return knownCause(thrown) ?? new HoldfastError("internal", message, { cause: thrown });
}

/** SQLite's primary result codes; the low byte of the extended ones. */
const SQLITE_READONLY = 8;
const SQLITE_FULL = 13;

/** Sockets are outside the home, and may be on another disk. */
const SOCKETS = /\.sock$|\/holdfast-\d+(\/|$)/;

/** An error that blocks everything and is not the caller's fault: a full disk or no file descriptors. Undefined for anything else. */
export function knownCause(thrown: unknown): HoldfastError | undefined {
  return unwritable(thrown) ?? withoutDescriptors(thrown);
}

/** Out of file descriptors, in this process or on the machine; undefined for anything else. */
function withoutDescriptors(thrown: unknown): HoldfastError | undefined {
  const { code } = (thrown ?? {}) as { code?: unknown };
  if (code !== "EMFILE" && code !== "ENFILE") return undefined;
  const whose = code === "EMFILE" ? "this process has" : "the machine has";
  return new HoldfastError("no_descriptors", `${whose} no file descriptors left`, {
    hint: "raise the limit (ulimit -n) in the shell that starts the daemon, then run: holdfast down; running sessions keep running",
    cause: thrown,
  });
}

/** A full disk or a read-only home, as Node and SQLite report it, as a HoldfastError; undefined for anything else. */
export function unwritable(thrown: unknown): HoldfastError | undefined {
  if (thrown instanceof HoldfastError) return thrown.httpStatus === ERRORS.disk_full.http ? thrown : undefined;
  const { code, errcode, syscall, path, address } = (thrown ?? {}) as Record<string, unknown>;
  const sqlite = typeof errcode === "number" ? errcode & 0xff : undefined;
  // The kernel also reports ENOSPC when it is out of inotify watches.
  const isFull = (code === "ENOSPC" || code === "EDQUOT") && syscall !== "watch";
  const place = String(path ?? address ?? "");
  if (isFull && SOCKETS.test(place)) {
    const directory = place.slice(0, place.lastIndexOf("/"));
    return new HoldfastError("disk_full", `the disk that holds the sockets is full: ${directory}`, {
      hint: `free space there (df ${directory}); running sessions keep running`,
      cause: thrown,
    });
  }
  if (isFull || sqlite === SQLITE_FULL) {
    return new HoldfastError("disk_full", "the disk is full: nothing can be written", {
      hint: "free space: holdfast du shows disk usage, holdfast rm and holdfast prune remove ended sessions; running sessions keep running",
      cause: thrown,
    });
  }
  if (code !== "EROFS" && sqlite !== SQLITE_READONLY) return undefined;
  return new HoldfastError("home_read_only", "the home is read-only: nothing can be written", {
    hint: "make its file system writable, or set HOLDFAST_HOME to a directory you can write to; running sessions keep running",
    cause: thrown,
  });
}
