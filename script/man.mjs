/** The manual page, from the commands' own declarations and the contract's errors: it cannot say what the program does not do. */

const ENVIRONMENT = [
  ["HOLDFAST_HOME", "where all state is kept. Default: $XDG_STATE_HOME/holdfast, else ~/.local/state/holdfast."],
  ["HOLDFAST_TOKEN", "act under this token; set inside every run, where holdfast acts as the session."],
  ["HOLDFAST_AS", "owner: act as yourself, whatever HOLDFAST_TOKEN is. Inside a run nothing acts as you without this."],
  [
    "HOLDFAST_URL",
    "the daemon at this TCP address (holdfast up --listen), or at unix:PATH (holdfast up --share), in place of the home's own; needs a token.",
  ],
  ["HOLDFAST_MACHINE", "the machine that every command is for, as with -H."],
  ["HOLDFAST_NODE", "the Node to run on, where the first one on PATH is not the right one. Node 24 or newer is needed."],
  ["XDG_CONFIG_HOME", "where holdfast/config.toml is looked for. Default: ~/.config."],
  ["NO_COLOR", "no colours."],
];

const FILES = [
  ["~/.local/state/holdfast/", "the home: everything below. Only you can read it."],
  ["  holdfast.db", "the journal: every event, and what follows from them."],
  [
    "  sessions/ID/",
    "of each session: what it was started from, and for each run its recording (runs/N/output.*), its times and how it ended.",
  ],
  ["  backups/", "copies of the journal; see holdfast backup."],
  ["  damaged/", "what was found damaged, or replaced on request. Never deleted by holdfast."],
  ["  daemon.log", "what the daemon has to say. At 8 MB it becomes daemon.log.1, and another begins."],
  [
    "~/.config/holdfast/config.toml",
    'configuration, in TOML; all of it may be left out: detach_key = "C-\\\\", recording_limit = "64M", and in [prune] age = "30d", size = "10G" and ' +
      'every = "1h". In [agents.NAME], agents of your own: command, prompt, and more. In [machines.NAME], machines for -H: ssh (what ssh is given) and command (in place of holdfast there). holdfast doctor says what in it makes no sense.',
  ],
  ["/tmp/holdfast-UID/", "sockets, by which commands reach the daemon and the daemon what keeps the sessions. Only you can open them."],
];

export function manPage({ commands, errors, version, commonFlags }) {
  const visible = commands.filter(({ hidden }) => !hidden);
  return `${[
    `.TH HOLDFAST 1 "" ${quoted(`holdfast ${version}`)} ${quoted("User Commands")}`,
    section("NAME"),
    text("holdfast - keeps AI coding agents running"),
    section("SYNOPSIS"),
    ".B holdfast",
    text("[-H MACHINE] COMMAND [ARGUMENTS] [FLAGS]"),
    section("DESCRIPTION"),
    text(
      "Starts agents and other commands in the background, in terminals of their own. Close the terminal, and they go on; come back, and find " +
        "them where they are, with everything they printed. What keeps them does not depend on the daemon: that may be ended, killed or replaced at " +
        "any time.",
    ),
    ".PP",
    text("A session is named by its name, its id, or the beginning of its id. The program is also installed as hold."),
    section("COMMANDS"),
    ...visible.flatMap(commandLines),
    section("FLAGS OF EVERY COMMAND"),
    ...Object.entries(commonFlags).flatMap(flagLines),
    section("ANOTHER MACHINE"),
    ...item([
      "-H, --machine MACHINE",
      "Before the command: done by the holdfast of that machine, through ssh(1). MACHINE is user@machine, a name of ~/.ssh/config, " +
        "ssh://user@machine:port, or a table [machines.NAME] of config.toml. Directories and files are those of that machine. attach, next, logs -f, " +
        "events -f, wait, ls --watch, approvals watch and send --wait go on where they were when the connection breaks. Exit status 255: the " +
        "connection broke under another command.",
    ]),
    section("ENVIRONMENT"),
    ...ENVIRONMENT.flatMap(item),
    section("FILES"),
    ...FILES.flatMap(item),
    section("EXIT STATUS"),
    text("Stable: scripts may branch on it."),
    ...item(["0", "It is done."]),
    ...exitCodes(errors).flatMap(item),
    section("EXAMPLES"),
    ...visible.flatMap(({ examples }) => examples.slice(0, 1).flatMap(([command, what]) => item([command, `${what}.`]))),
  ].join("\n")}\n`;
}

function commandLines({ name, usage, summary, description, flags }) {
  return [
    `.SS ${quoted(`${name} ${usage}`.trimEnd())}`,
    text(`${capital(summary)}.`),
    ...(description ? [".PP", text(description.replaceAll("\n", " "))] : []),
    ...Object.entries(flags).flatMap(flagLines),
  ];
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

/** In ASCII alone: what a terminal or a formatter cannot show, the formatter knows another way to write. */
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
