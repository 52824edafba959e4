/**
 * Builds the one line that sshd passes to the remote user's login shell. Its only shell syntax is one pair of quotes, which bash, zsh, fish, csh
 * and POSIX shells read alike. The actual script is written in octal and read by a POSIX shell.
 */
import { HoldfastError } from "@holdfast/contract/errors";
import { shellQuote } from "@holdfast/platform/shell";

/** The longest word of a command line on Linux; the remote shell gets this line as one word. */
const LONGEST = 128 * 1024 - 1;

export interface FarCall {
  /** The machine's name as the person typed it. */
  machine: string;
  /** Replaces `holdfast`, in the remote shell's syntax; from config.toml. */
  command: string | undefined;
  args: readonly string[];
  /** Programs get the caller's environment, so it must be that of a login shell. */
  startsPrograms: boolean;
  env: Readonly<Record<string, string>>;
  /** Used if the remote side has no locale. */
  locale: string | undefined;
}

export function farLine(call: FarCall): string {
  const line = `exec sh -c 'eval "$(printf %b "$1")"' holdfast '${octal(script(call))}'`;
  if (Buffer.byteLength(line) <= LONGEST) return line;
  throw new HoldfastError("usage", "the arguments are too long for ssh", {
    hint: "send a long text through standard input: holdfast -H MACHINE send NAME - < FILE",
  });
}

function octal(text: string): string {
  return Array.from(Buffer.from(text), (byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9 _.,:=@%/+-]/.test(character) ? character : `\\0${byte.toString(8).padStart(3, "0")}`;
  }).join("");
}

function script(call: FarCall): string {
  // On the remote machine, HOLDFAST_MACHINE would forward to yet another machine.
  const variables = ["unset HOLDFAST_MACHINE"];
  variables.push(...Object.entries(call.env).map(([name, value]) => `export ${name}=${shellQuote(value)}`));
  if (call.locale) variables.push(`[ -n "$LC_ALL$LC_CTYPE$LANG" ] || export LANG=${shellQuote(call.locale)}`);
  // The words also pass through the login shell, in octal: fish exports non-ASCII text in an encoding of its own.
  const words = [`HOLDFAST_WORDS=${shellQuote(octal(`set -- ${call.args.map(shellQuote).join(" ")}`))}`, READ_WORDS];
  if (call.command !== undefined) return [...variables, ...words, `${call.command} "$@"`].join("\n");
  const inner = [
    READ_WORDS,
    "command -v holdfast >/dev/null 2>&1 || PATH=$PATH:$HOLDFAST_PATH",
    "unset HOLDFAST_LOGIN HOLDFAST_WORDS HOLDFAST_PATH",
    `if command -v holdfast >/dev/null 2>&1; then exec holdfast "$@" <&4 >&3 3>&- 4<&-; fi`,
    ...missing(call),
  ];
  const login = [
    `export HOLDFAST_WORDS HOLDFAST_PATH="$PATH" HOLDFAST_LOGIN=${shellQuote(inner.join("\n"))}`,
    `case \${SHELL##*/} in csh|tcsh) how=-c ;; *) how=-lc ;; esac`,
    // Output of the login files is not the command's, and they must not read its input.
    `exec "\${SHELL:-/bin/sh}" $how 'exec sh -c "$HOLDFAST_LOGIN"' 3>&1 4<&0 >/dev/null </dev/null`,
  ];
  return [...variables, ...words, ...(call.startsPrograms ? [] : [AT_ONCE]), ...login].join("\n");
}

const READ_WORDS = `eval "$(printf %b "$HOLDFAST_WORDS")"`;

/** The PATH of a non-login shell often lacks additions such as holdfast or its Node. */
const AT_ONCE = `if command -v holdfast >/dev/null 2>&1 && { command -v node >/dev/null 2>&1 || [ -n "$HOLDFAST_NODE" ]; }; then exec holdfast "$@"; fi`;

function missing({ machine, args }: FarCall): string[] {
  const error = new HoldfastError("machine_without_holdfast", `holdfast is not on the PATH of ${machine}`, {
    hint: `install it there; or set its path in your config.toml: [machines.${tomlKey(machine)}] command = "/path/to/holdfast"`,
  });
  const end = args.indexOf("--");
  const json = (end < 0 ? args : args.slice(0, end)).includes("--json");
  const text = json ? JSON.stringify({ error: error.toBody() }) : `holdfast: ${error.message}\n  ${error.hint}`;
  return [`printf '%s\\n' ${shellQuote(text)} >&2`, `exit ${error.exitCode}`];
}

function tomlKey(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : `'${name}'`;
}
