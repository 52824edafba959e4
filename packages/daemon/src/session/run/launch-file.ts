/**
 * The file that becomes a run's program: it sets the run's environment and `exec`s. The environment goes through a file, not through tmux or an
 * argument vector: any size fits, other users cannot read it in a process list, and none of it stays in the server for later sessions.
 */
import { HoldfastError } from "@holdfast/contract";
import { inScope, type Scope, STANDARD_PATH, shellQuote } from "@holdfast/platform";

/**
 * Variables of the caller's own terminal, multiplexer or session, or owned by the shell that reads the file. The Node that `holdfast` needs stays.
 */
const NOT_PASSED =
  /^(TMUX.*|HOLDFAST_(?!NODE$).*|TERM|TERMCAP|COLUMNS|LINES|STY|TERM_PROGRAM|TERM_PROGRAM_VERSION|TERM_SESSION_ID|_|PWD|OLDPWD|SHLVL|UID|EUID|PPID|BASHOPTS|SHELLOPTS|BASH_VERSINFO|IFS|OPTIND|LINENO)$/;

/** Exported shell functions and the like have names that no POSIX shell can set. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The part of the caller's environment that a run gets. */
export function runEnvironment(caller: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(caller).filter(([name, value]) => NAME.test(name) && !NOT_PASSED.test(name) && !value.includes("\0")),
  );
}

/** Refuses a requested variable that a run would not get. */
export function checkSettable(env: Readonly<Record<string, string>>): void {
  const kept = runEnvironment(env);
  const lost = Object.keys(env).find((name) => !(name in kept));
  if (lost === undefined) return;
  throw new HoldfastError("usage", `the variable ${lost} cannot be set for a run`, {
    hint: "Holdfast or the shell sets it, or its name or value is not valid in an environment",
  });
}

export function launchFile(options: {
  cwd: string;
  umask: number;
  env: Readonly<Record<string, string>>;
  inherited: Iterable<string>;
  command: readonly string[];
  /** A file that exists until the program is executed. */
  pending?: string | undefined;
  /** The path of this file, and the scope to run in, if any. */
  scope?: { path: string; scope: Scope } | undefined;
}): string {
  const unset = [...new Set([...options.inherited, "TMUX", "TMUX_PANE", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "OLDPWD"])].filter((name) =>
    NAME.test(name),
  );
  // Without a PATH the program was looked up on the standard one.
  const env = { PATH: STANDARD_PATH, ...options.env };
  const [program = "", ...args] = options.command;
  return [
    ...(options.scope ? enterScope(options.scope) : []),
    `cd -- ${shellQuote(options.cwd)} || exit 126`,
    // If the file cannot be removed, the program does not run: it could get its first prompt a second time.
    ...(options.pending === undefined ? [] : [`rm -f -- ${shellQuote(options.pending)} || exit 126`]),
    `umask ${options.umask.toString(8).padStart(4, "0")}`,
    `unset ${unset.join(" ")}`,
    ...Object.entries(env).map(([name, value]) => `export ${name}=${shellQuote(value)}`),
    "export PWD",
    // Runs a command that an agent asks its keeper to run.
    'if [ -n "$HOLDFAST_BECOME" ]; then unset HOLDFAST_BECOME; exec "$@"; fi',
    `exec ${[program, ...args].map(shellQuote).join(" ")}`,
    "",
  ].join("\n");
}

/** The shell inside the scope reads the file a second time. */
function enterScope({ path, scope }: { path: string; scope: Scope }): string[] {
  const words = (command: string[]) => inScope(scope, command).map(shellQuote).join(" ");
  return [
    // If the scope cannot be created after all, the daemon watches the limit.
    `if [ -z "\${HOLDFAST_IN_SCOPE-}" ] && ${inScope({ ...scope, unit: `${scope.unit}-probe` }, ["true"])
      .map(shellQuote)
      .join(" ")} 2> /dev/null; then`,
    `  HOLDFAST_IN_SCOPE=1 exec ${words(["/bin/sh", "-c", '. "$0"', path])} "$@"`,
    "fi",
    "unset HOLDFAST_IN_SCOPE XDG_RUNTIME_DIR",
  ];
}
