/**
 * Every way Holdfast can fail, as data: one code, one HTTP status, one CLI exit code.
 * Exit codes are stable: scripts branch on them. docs/ERRORS.md is generated from this table.
 * No schema library here: the CLI's hot path loads this file.
 */
export const ERRORS = {
  internal: { http: 500, exit: 1, what: "A defect or an unexpected condition; the daemon's log has more." },
  usage: { http: 400, exit: 2, what: "The command line or the request is malformed." },
  invalid_name: { http: 400, exit: 2, what: "A session name that is not allowed." },
  session_not_found: { http: 404, exit: 3, what: "No session has that name, id or id prefix." },
  session_removed: { http: 410, exit: 32, what: "The session was removed while it was waited for." },
  session_ambiguous: { http: 409, exit: 4, what: "An id prefix that fits several sessions." },
  name_taken: { http: 409, exit: 5, what: "Another session, or token, has that name." },
  session_running: { http: 409, exit: 6, what: "The action needs a session that has ended." },
  session_damaged: { http: 409, exit: 6, what: "The files a new run would start from are damaged or missing." },
  conversation_unknown: { http: 409, exit: 6, what: "There is no conversation that the session could go on with." },
  budget_spent: { http: 409, exit: 35, what: "The session has used up a limit of its budget; resume --budget raises it." },
  fork_refused: { http: 409, exit: 6, what: "The session's conversation cannot be copied; nothing was started." },
  has_no_terminal: { http: 409, exit: 6, what: "The session is a conversation: it has no screen, and takes no keys." },
  not_a_conversation: {
    http: 409,
    exit: 6,
    what: "The session is a terminal's: it has no transcript, and nothing of a conversation can be set.",
  },
  not_offered: { http: 409, exit: 6, what: "The agent does not offer that: another mode, another model, an interruption." },
  turn_runs: { http: 409, exit: 6, what: "The action needs a conversation whose turn has ended." },
  turn_failed: { http: 502, exit: 35, what: "The turn failed, or was cut off with its agent; what came of it is in the transcript." },
  turn_refused: { http: 422, exit: 36, what: "The agent refused to go on with the turn." },
  turn_cancelled: { http: 409, exit: 37, what: "Somebody cancelled the turn; what came of it is in the transcript." },
  cancel_ignored: {
    http: 409,
    exit: 47,
    what: "The agent keeps working although its turn was cancelled; `details.steps` says what was tried. stop ends it.",
  },
  turn_cut: { http: 422, exit: 38, what: "The answer was cut off at a limit of tokens or requests." },
  agent_crashed: { http: 502, exit: 35, what: "The agent ended in the middle of its turn, or never came up." },
  agent_unauthenticated: { http: 502, exit: 35, what: "The agent is not logged in, or its model did not take its key." },
  rate_limited: {
    http: 429,
    exit: 35,
    what: "The model gives no answer for now: too much was asked of it, or what was paid for is used up.",
  },
  tool_failed: { http: 502, exit: 35, what: "A tool that the agent used failed, where that was to end the turn." },
  permission_refused: { http: 403, exit: 20, what: "What the agent asked leave for was denied, where that was to end the turn." },
  aborted: { http: 499, exit: 37, what: "Whoever asked for it cancelled it." },
  session_ended: { http: 409, exit: 6, what: "The action needs a session that is running." },
  orphan_not_found: { http: 404, exit: 3, what: "There is no such orphan (any more)." },
  orphan_not_adoptable: {
    http: 409,
    exit: 6,
    what: "Nothing keeps the orphan's terminal, or the files of its session are gone: it can only be stopped.",
  },
  not_adoptable: {
    http: 409,
    exit: 6,
    what: "What was to be adopted is not there, is a session already, or is nothing that Holdfast knows how to take over.",
  },
  not_in_reach: { http: 409, exit: 6, what: "The terminal of an adopted agent cannot be reached, or is not Holdfast's to change." },
  unauthenticated: {
    http: 401,
    exit: 22,
    what: "The token is missing (also inside a run), wrong, expired or revoked, or its run has ended.",
  },
  forbidden: { http: 403, exit: 20, what: "Who asks may not do that: too little scope, or not its own session or child." },
  token_not_found: { http: 404, exit: 3, what: "No token that is not revoked has that name or id." },
  approval_not_found: { http: 404, exit: 3, what: "No approval has that id, and no session of that name waits for one." },
  approval_ambiguous: {
    http: 409,
    exit: 4,
    what: "Several approvals are meant: an id prefix of several, or a session that waits for more than one.",
  },
  approval_over: { http: 409, exit: 27, what: "The approval was answered already, or the agent does not wait for it any more." },
  approval_changed: {
    http: 409,
    exit: 27,
    what: "What the agent asks for is not what was shown to whoever answered; nothing was decided.",
  },
  approval_unanswerable: { http: 409, exit: 27, what: "The agent takes no such answer from the inbox; answer on its own screen." },
  address_public: { http: 400, exit: 2, what: "An address that other machines reach, without --insecure-public." },
  address_unusable: { http: 409, exit: 21, what: "The daemon cannot listen on that address." },
  agent_unknown: { http: 422, exit: 7, what: "No profile has that agent name." },
  persona_not_found: { http: 404, exit: 3, what: "No persona has that name." },
  persona_unusable: { http: 422, exit: 7, what: "The persona's file cannot be used as it is; the message says where and why." },
  program_not_found: { http: 422, exit: 7, what: "The program is not on the session's PATH or cannot be executed." },
  cwd_unusable: { http: 422, exit: 7, what: "The working directory does not exist or cannot be entered." },
  host_missing: { http: 503, exit: 8, what: "The host that was asked for (tmux) is not on this machine." },
  host_failed: { http: 500, exit: 8, what: "The keeper refused or failed; nothing was started." },
  stop_incomplete: { http: 500, exit: 9, what: "Processes of the run were still there after SIGKILL." },
  daemon_unreachable: { http: 503, exit: 10, what: "The daemon did not start or does not answer." },
  daemon_ended: { http: 503, exit: 10, what: "The daemon that a command followed was ended on request." },
  client_outdated: { http: 426, exit: 11, what: "The daemon is newer than this CLI." },
  daemon_outdated: { http: 426, exit: 11, what: "The daemon is older than this CLI, which replaces it." },
  node_too_old: { http: 500, exit: 12, what: "Node is older than Holdfast needs." },
  cursor_gone: { http: 410, exit: 13, what: "The cursor belongs to another epoch; take a new snapshot." },
  home_unusable: { http: 500, exit: 14, what: "HOLDFAST_HOME or the socket directory cannot be used safely." },
  recording_cut: { http: 410, exit: 13, what: "The output from there on has been deleted in part; ask where the recording begins now." },
  generation_not_found: { http: 404, exit: 3, what: "Nothing was lost under that number, or it is long ago." },
  restore_running: { http: 409, exit: 6, what: "A restore is under way already." },
  restore_incomplete: { http: 409, exit: 34, what: "Some sessions did not come back; each is told, and can be tried again." },
  backup_not_found: { http: 404, exit: 3, what: "No backup has that name." },
  backup_unusable: { http: 409, exit: 18, what: "The backup is damaged, or of a newer Holdfast." },
  backup_failed: { http: 500, exit: 18, what: "A backup could not be taken; what was there is unchanged." },
  journal_damaged: { http: 503, exit: 18, what: "The journal's database is damaged; the daemon restores it at its next start." },
  disk_full: { http: 507, exit: 19, what: "The disk that holds the home is full: nothing can be written down." },
  home_read_only: { http: 507, exit: 19, what: "The home is on a file system that cannot be written to." },
  no_descriptors: { http: 503, exit: 19, what: "The process or the machine has no file descriptors left." },
  status_unknown: { http: 409, exit: 23, what: "What the agent does is not known, so it cannot be waited for." },
  nothing_waits: { http: 404, exit: 24, what: "No session waits for a person." },
  timeout: { http: 504, exit: 16, what: "What was waited for did not happen in time." },
  principal_unknown: { http: 404, exit: 3, what: "There is no such user or token that could act here." },
  control_held: { http: 409, exit: 33, what: "Somebody else drives the session; ask for it with: holdfast control request." },
  not_attached: { http: 409, exit: 6, what: "Control goes to a terminal that is attached, and there is none such." },
  paste_refused: { http: 409, exit: 17, what: "Several lines for a program that would take each as a command; --force types them." },
  input_full: { http: 409, exit: 17, what: "The program has left too much unread of what was typed before; nothing was typed." },
  approval_waits: { http: 409, exit: 17, what: "It asks for leave, which a typed line could give; --force types it all the same." },
  message_not_found: { http: 404, exit: 3, what: "There is no such message." },
  message_gone: { http: 409, exit: 6, what: "The message is no longer queued: it cannot be taken back." },
  message_failed: { http: 409, exit: 25, what: "The message did not reach the agent, or its turn failed." },
  message_unknown: { http: 409, exit: 26, what: "Whether the agent got the message, or answered it, is not known." },
  reply_unknown: { http: 404, exit: 26, what: "What the agent said last is not known: it has not answered yet, or does not tell." },
  workspace_not_found: { http: 404, exit: 3, what: "No workspace has that name, id or id prefix." },
  workspace_ambiguous: { http: 409, exit: 4, what: "An id prefix that fits several workspaces." },
  workspace_lived_in: { http: 409, exit: 6, what: "Sessions work in the workspace; stop them first." },
  workspace_removed: { http: 409, exit: 6, what: "The workspace was removed, or its directory is gone." },
  repository_unusable: {
    http: 422,
    exit: 7,
    what: "The repository, branch or base does not allow it: no commit yet, a branch in use, no such base.",
  },
  git_failed: { http: 500, exit: 28, what: "Git is missing or failed; the message is its own." },
  would_lose_work: { http: 409, exit: 29, what: "Something uncommitted, unmerged or in use would be lost; --force keeps a way back." },
  merge_conflict: { http: 409, exit: 30, what: "The two sides changed the same lines; nothing was changed." },
  merge_refused: {
    http: 409,
    exit: 30,
    what: "The base has uncommitted changes or has moved on, or there is nothing to merge; nothing was changed.",
  },
  not_trusted: {
    http: 403,
    exit: 48,
    what: "The project's .holdfast/config.toml makes Holdfast run or copy something that nobody has trusted yet; nothing was made. `details` has `directory`, `tree`, `file`, `setup`, `copy` and `hash`.",
  },
  trust_not_found: { http: 404, exit: 3, what: "No trust was given to that directory, or has that hash." },
  setup_failed: {
    http: 422,
    exit: 31,
    what: "The set-up command of .holdfast/config.toml failed; the workspace is there, and so is what it said.",
  },
  rewind_refused: {
    http: 409,
    exit: 30,
    what: "A session is in a turn there, a merge or rebase is under way, or something that cannot be kept is in the way; nothing was changed.",
  },
  checkpoint_not_found: { http: 404, exit: 3, what: "The workspace has no such checkpoint." },
  tournament_not_found: { http: 404, exit: 3, what: "No tournament, and no entry of one, has that name or id." },
  tournament_kept: { http: 409, exit: 6, what: "Another entry of the tournament was kept already." },
  task_file_invalid: { http: 400, exit: 2, what: "The task file cannot be read as one; the message says where and what was expected." },
  task_item_gone: { http: 409, exit: 35, what: "An item of a task file was done, but is not there any more: its box was not ticked." },
  task_failed: { http: 409, exit: 35, what: "Some items of a task file were not done; each is told, and a rerun does what is left." },
  plan_invalid: { http: 400, exit: 2, what: "The file of `apply` cannot be read as one; the message says where and what was expected." },
  task_not_found: { http: 404, exit: 3, what: "There is no such task." },
  group_not_found: { http: 404, exit: 3, what: "There is no such group." },
  group_exists: { http: 409, exit: 5, what: "There is a group of that path already." },
  group_in_use: { http: 409, exit: 6, what: "Members of the group are alive, or a group is in it; --force removes all of it." },
  group_full: { http: 409, exit: 44, what: "The group has as many members as it may have; nobody was taken in." },
  not_a_member: { http: 409, exit: 6, what: "The session is not in the group." },
  group_empty: { http: 409, exit: 6, what: "Nobody else in the group is alive, or nobody coordinates it: nothing was sent." },
  value_not_found: { http: 404, exit: 3, what: "Neither the group nor one above it has a value of that key." },
  stale_value: {
    http: 409,
    exit: 45,
    what: "Somebody changed the value since it was read; nothing was written. `details.current` has it as it is now, null: it is not there.",
  },
  value_too_large: { http: 413, exit: 46, what: "A shared value has at most 64 KB as JSON; nothing was written." },
  too_many_keys: { http: 409, exit: 46, what: "A group has at most 1,000 values; nothing was written." },
  body_too_large: { http: 413, exit: 46, what: "The request's body is larger than its endpoint takes; nothing was done." },
  daemon_busy: { http: 503, exit: 10, what: "The daemon holds too many large requests at once; nothing was done. Try again." },
  context_not_found: { http: 404, exit: 3, what: "The directory has no Working Context." },
  context_changed: { http: 409, exit: 6, what: "Somebody changed the file of the Working Context since it was read; nothing was written." },
  file_exists: { http: 409, exit: 5, what: "The file to write to is there already; --force replaces it." },
  file_unusable: { http: 500, exit: 14, what: "The file cannot be written where it was asked for." },
  machine_unreachable: { http: 503, exit: 40, what: "The other machine could not be reached by ssh, or not any more." },
  machine_lost: {
    http: 503,
    exit: 43,
    what: "The connection to the other machine broke before it answered: whether it was done is not known.",
  },
  machine_refused: { http: 403, exit: 41, what: "The other machine let nobody in by ssh, or its host key is not the one that is known." },
  machine_without_holdfast: { http: 503, exit: 42, what: "There is no holdfast on the other machine, or none that was found." },
  machine_other_version: { http: 426, exit: 11, what: "The other machine's holdfast is of another version, and this needs the same." },
  not_a_terminal: { http: 400, exit: 15, what: "The command needs a terminal on standard input and output." },
} as const satisfies Record<string, { http: number; exit: number; what: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** What a failed request carries over the wire and what `--json` prints on standard error. */
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
  /** What to do next, as a sentence or a command. */
  declare readonly hint: string | undefined;
  /** Names that were meant perhaps: for `session_not_found` and `session_ambiguous`. */
  declare readonly candidates: string[] | undefined;
  /** What a program needs to go on; which, the table above says. */
  declare readonly details: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, message: string, more: More = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    // What there is nothing of is not there: an error is also read by people, as Node prints it.
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

  /** The error behind a failed reply; a body of a code we do not know (a newer daemon's) becomes `internal`. */
  static fromBody(body: Partial<Omit<ErrorBody, "code">> & { code?: string }): HoldfastError {
    return errorOfBody(body);
  }

  /** Wraps whatever was thrown; a HoldfastError stays itself. */
  static from(thrown: unknown): HoldfastError {
    return wrapped(thrown);
  }
}

// Apart from the class: one that names itself inside is given another name by the bundler, which people would read in every trace.
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

/** Sockets are not in the home, and may be on another disk. */
const SOCKETS = /\.sock$|\/holdfast-\d+(\/|$)/;

/** What keeps everything from working here, and is not the fault of what was tried: no room, no descriptors. Undefined for anything else. */
export function knownCause(thrown: unknown): HoldfastError | undefined {
  return unwritable(thrown) ?? withoutDescriptors(thrown);
}

/** No file can be opened any more, by this process or the machine; undefined for anything else. */
function withoutDescriptors(thrown: unknown): HoldfastError | undefined {
  const { code } = (thrown ?? {}) as { code?: unknown };
  if (code !== "EMFILE" && code !== "ENFILE") return undefined;
  const whose = code === "EMFILE" ? "this process has" : "the machine has";
  return new HoldfastError("no_descriptors", `${whose} no file descriptors left`, {
    hint: "raise the limit (ulimit -n) in the shell that starts the daemon, then: holdfast down; running sessions go on",
    cause: thrown,
  });
}

/** A full disk or a read-only home, as Node and SQLite say it, as the error to tell; undefined for anything else. */
export function unwritable(thrown: unknown): HoldfastError | undefined {
  if (thrown instanceof HoldfastError) return thrown.httpStatus === ERRORS.disk_full.http ? thrown : undefined;
  const { code, errcode, syscall, path, address } = (thrown ?? {}) as Record<string, unknown>;
  const sqlite = typeof errcode === "number" ? errcode & 0xff : undefined;
  // The kernel also says ENOSPC when it has no room for another watch.
  const isFull = (code === "ENOSPC" || code === "EDQUOT") && syscall !== "watch";
  const place = String(path ?? address ?? "");
  if (isFull && SOCKETS.test(place)) {
    const directory = place.slice(0, place.lastIndexOf("/"));
    return new HoldfastError("disk_full", `the disk that holds the sockets is full: ${directory}`, {
      hint: `make room there: df ${directory}; running sessions go on meanwhile`,
      cause: thrown,
    });
  }
  if (isFull || sqlite === SQLITE_FULL) {
    return new HoldfastError("disk_full", "the disk is full: nothing can be written down", {
      hint: "make room: holdfast du says what takes it, holdfast rm and prune forget ended sessions; running ones go on meanwhile",
      cause: thrown,
    });
  }
  if (code !== "EROFS" && sqlite !== SQLITE_READONLY) return undefined;
  return new HoldfastError("home_read_only", "the home is read-only: nothing can be written down", {
    hint: "make its file system writable again, or set HOLDFAST_HOME to a directory you can write to; running sessions go on meanwhile",
    cause: thrown,
  });
}
