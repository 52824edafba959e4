/** Generates the manual pages from command declarations and the contract's errors, so that they always match the program. */

const ENVIRONMENT = [
  ["HOLDFAST_HOME", "The directory with all state. Default: $XDG_STATE_HOME/holdfast, else ~/.local/state/holdfast."],
  ["HOLDFAST_TOKEN", "Act under this token. It is set inside every run, where holdfast acts as the session."],
  ["HOLDFAST_AS", "owner: act as yourself instead of HOLDFAST_TOKEN. Inside a run this is the only way to act as yourself."],
  [
    "HOLDFAST_URL",
    "Use the daemon at this TCP address (holdfast up --listen) or at unix:PATH (holdfast up --share) instead of the home's own. Needs a token.",
  ],
  ["HOLDFAST_MACHINE", "The machine for every command, as with -H."],
  ["HOLDFAST_NODE", "The Node to run on, if the first one on PATH is too old. Holdfast needs Node 24 or newer."],
  [
    "HOLDFAST_PAGER, PAGER",
    "The pager for help and long output on a terminal. The first that is set is used; the default is less. An empty value or cat turns the pager off, as does --no-pager. " +
      "Inside a run only HOLDFAST_PAGER counts.",
  ],
  ["LESS", "Options for less. Default: FRX."],
  ["XDG_CONFIG_HOME", "The directory of holdfast/config.toml. Default: ~/.config."],
  ["NO_COLOR", "Turns colours off."],
];

const FILES = [
  ["~/.local/state/holdfast/", "The home, with the files below. Only you can read it."],
  ["  holdfast.db", "The journal: all events, and the tables derived from them."],
  [
    "  sessions/ID/",
    "The files of a session: its start parameters, and for each run the recording (runs/N/output.*), its times and its end.",
  ],
  ["  backups/", "Backups of the journal; see holdfast backup."],
  ["  damaged/", "Damaged or replaced files. Holdfast never deletes them."],
  ["  daemon.log", "The daemon's log. At 8 MB it becomes daemon.log.1."],
  [
    "~/.config/holdfast/config.toml",
    'The configuration. Every key is optional: detach_key = "C-\\\\", recording_limit = "64M", and in [prune] age = "30d", size = "10G" and ' +
      'every = "1h". [agents.NAME] tables add your own agents. [machines.NAME] tables name machines for -H: ssh (the ssh destination) and command ' +
      "(the holdfast there). holdfast doctor reports mistakes.",
  ],
  ["/tmp/holdfast-UID/", "The sockets of the daemon and of the hosts. Only you can open them."],
];

/** `hold` is the same program. */
export const HOLD_PAGE = ".so man1/holdfast.1\n";

/** `sections`: the titles of `holdfast --help`; `commands`: all commands, verbs included. */
export function manPage({ sections, commands, errors, version, commonFlags, pagerFlag }) {
  const of = (title) => commands.filter(({ section }) => section === title);
  return `${[
    `.TH HOLDFAST 1 "" ${quoted(`holdfast ${version}`)} ${quoted("User Commands")}`,
    section("NAME"),
    text("holdfast, hold - keep AI coding agents running"),
    section("SYNOPSIS"),
    ".B holdfast",
    text("[-H MACHINE] COMMAND [ARGUMENTS] [FLAGS]"),
    section("DESCRIPTION"),
    text(
      "Holdfast starts agents and other commands in the background, each in its own terminal. They keep running when you close your terminal. " +
        "When you return, you find them where they are, with all their output. Agents do not depend on the daemon: you can stop, kill or replace " +
        "the daemon at any time.",
    ),
    ".PP",
    text("Refer to a session by its name, its id, or the beginning of its id. hold is a short name for holdfast."),
    ...sections.flatMap((title) => [section(title.toUpperCase()), ...of(title).flatMap(commandLines)]),
    section("FLAGS OF EVERY COMMAND"),
    ...Object.entries({ ...commonFlags, ...pagerFlag }).flatMap(flagLines),
    section("REMOTE MACHINES"),
    ...item([
      "-H, --machine MACHINE",
      "Before the command: run it with the holdfast of that machine, through ssh(1). MACHINE is user@machine, a host of ~/.ssh/config, " +
        "ssh://user@machine:port, or a [machines.NAME] table of config.toml. Directories and files are those of that machine. If the connection " +
        "breaks, attach, next, logs -f, events -f, wait, ls --watch, approvals watch, send --wait and group send --coordinator --wait reconnect and continue. Exit status 43: the " +
        "connection broke during another command; it is unknown whether the command was done.",
    ]),
    section("ENVIRONMENT"),
    ...ENVIRONMENT.flatMap(item),
    section("FILES"),
    ...FILES.flatMap(item),
    section("EXIT STATUS"),
    text("Exit codes are stable; scripts can rely on them."),
    ...item(["0", "Success."]),
    ...exitCodes(errors).flatMap(item),
    section("EXAMPLES"),
    ...commands
      .filter(({ run }) => run)
      .flatMap(({ examples }) => examples.slice(0, 1).flatMap(([command, what]) => item([command, `${capital(what)}.`]))),
  ].join("\n")}\n`;
}

function commandLines({ name, usage = "", summary, description, flags = {} }) {
  return [
    `.SS ${quoted(`${name} ${usage}`.trimEnd())}`,
    text(`${capital(summary)}.`),
    ...(description ? description.split("\n\n").flatMap(paragraph) : []),
    ...Object.entries(flags).flatMap(flagLines),
  ];
}

/** Indented lines are a sample of a file. */
function paragraph(words) {
  if (!words.startsWith(" ")) return [".PP", text(words.replaceAll("\n", " "))];
  return [".PP", ".nf", ...words.split("\n").map(text), ".fi"];
}

function flagLines([name, { short, value, optional, summary }]) {
  const written = value ? (optional ? ` [${value}]` : ` ${value}`) : "";
  return item([`${short ? `-${short}, ` : ""}--${name}${written}`, `${capital(summary)}.`]);
}

function exitCodes(errors) {
  const meanings = new Map();
  for (const { exit, what } of Object.values(errors)) meanings.set(exit, [...(meanings.get(exit) ?? []), what]);
  return [...meanings].sort(([a], [b]) => a - b).map(([exit, whats]) => [String(exit), whats.join(" ")]);
}

function section(title) {
  return `.SH ${quoted(title)}`;
}

function item([term, meaning]) {
  return [".TP", `.B ${quoted(term)}`, text(meaning)];
}

function text(words) {
  const escaped = roff(words);
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}

function quoted(words) {
  return `"${roff(words).replaceAll('"', "\\(dq")}"`;
}

/** ASCII only: the formatter has escapes for characters that a terminal may not show. */
function roff(words) {
  return words
    .replaceAll("…", "...")
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll(/[^\n -~]/gu, (character) => `\\[u${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
}

function capital(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
