/**
 * The part of a repository's own configuration that git may see. Agents can write that file, and many of its keys name a program: filters, drivers,
 * hooks, helpers, transports. So this is a list of harmless keys, and every other key is left out. Git reads the user's global and system
 * configuration itself.
 */

/** A setting as printed by `git config --list -z --show-scope`. A null value is a key without `=`. */
export interface Setting {
  scope: string;
  key: string;
  value: string | null;
}

/** Sections in which every key is harmless. */
const WHOLE = new Set(["author", "checkout", "commit", "committer", "feature", "i18n", "index", "pack", "rerere", "sparse", "tag", "user"]);

/** Harmless keys of a `section`, or of `section.*` for named subsections. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  core: [
    ...["abbrev", "attributesfile", "autocrlf", "bare", "bigfilethreshold", "checkroundtripencoding", "checkstat", "commentchar"],
    ...["commitgraph", "compression", "deltabasecachelimit", "eol", "excludesfile", "filemode", "hidedotfiles", "ignorecase", "ignorestat"],
    ...[
      "logallrefupdates",
      "longpaths",
      "loosecompression",
      "multipackindex",
      "packedgitlimit",
      "packedgitwindowsize",
      "precomposeunicode",
    ],
    ...["protecthfs", "protectntfs", "quotepath", "repositoryformatversion", "safecrlf", "sharedrepository", "sparsecheckout"],
    ...["sparsecheckoutcone", "symlinks", "trustctime", "untrackedcache", "usereplacerefs", "warnambiguousrefs", "whitespace"],
  ],
  branch: ["autosetupmerge", "autosetuprebase"],
  "branch.*": ["description", "gh-merge-base", "merge", "pushremote", "rebase", "remote"],
  "credential.*": ["username", "usehttppath"],
  credential: ["username", "usehttppath"],
  diff: ["algorithm", "context", "indentheuristic", "interhunkcontext", "mnemonicprefix", "noprefix", "renamelimit", "renames"],
  "diff.*": ["binary", "funcname", "wordregex", "xfuncname"],
  extensions: ["compatobjectformat", "noop", "objectformat", "partialclone", "preciousobjects", "refstorage", "relativeworktrees"],
  gpg: ["format", "mintrustlevel"],
  http: ["extraheader", "postbuffer", "proxy", "sslcainfo", "sslcapath", "sslcert", "sslkey", "sslverify", "useragent", "version"],
  "http.*": ["extraheader", "postbuffer", "proxy", "sslcainfo", "sslcapath", "sslcert", "sslkey", "sslverify", "useragent", "version"],
  lfs: ["fetchexclude", "fetchinclude", "locksverify", "pushurl", "repositoryformatversion", "url"],
  "lfs.*": ["access", "locksverify"],
  merge: ["conflictstyle", "directoryrenames", "renamelimit", "renames"],
  push: ["autosetupremote", "default", "followtags", "gpgsign", "pushoption", "useforceifincludes"],
  remote: ["pushdefault"],
  "remote.*": ["fetch", "gh-resolved", "mirror", "partialclonefilter", "promisor", "proxy", "prune", "push", "pushurl", "tagopt", "url"],
  "submodule.*": ["active", "branch", "url"],
  transfer: ["fsckobjects", "hiderefs"],
  "url.*": ["insteadof", "pushinsteadof"],
};

export function isHarmless(key: string): boolean {
  const { section, name, variable } = partsOf(key);
  if (!/^[a-z0-9-]+$/.test(section) || !/^[a-z][a-z0-9-]*$/.test(variable)) return false;
  if (WHOLE.has(section)) return name === null;
  return KEYS[name === null ? section : `${section}.*`]?.includes(variable) ?? false;
}

/** Parses `-z` output with scopes: the scope, then key and value separated by a newline. */
export function readSettings(text: string): Setting[] {
  const fields = text.split("\0");
  const settings: Setting[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const entry = fields[at + 1] ?? "";
    const end = entry.indexOf("\n");
    settings.push({
      scope: fields[at] ?? "",
      key: end < 0 ? entry : entry.slice(0, end),
      value: end < 0 ? null : entry.slice(end + 1),
    });
  }
  return settings;
}

/** True for the repository's own settings, from its file or from that of a worktree. */
export function isLocal({ scope }: Setting): boolean {
  return scope === "local" || scope === "worktree";
}

/** Writes settings as a configuration file. */
export function writeSettings(settings: readonly Setting[]): string {
  return settings
    .map(({ key, value }) => `${header(key)}\n\t${partsOf(key).variable}${value === null ? "" : ` = ${quoted(value)}`}\n`)
    .join("");
}

function header(key: string): string {
  const { section, name } = partsOf(key);
  return name === null ? `[${section}]` : `[${section} "${name.replace(/["\\]/g, "\\$&")}"]`;
}

function quoted(value: string): string {
  const escapes: Readonly<Record<string, string>> = { "\n": "\\n", "\t": "\\t", "\b": "\\b", '"': '\\"', "\\": "\\\\" };
  return `"${value.replace(/[\n\t\b"\\]/g, (character) => escapes[character] ?? character)}"`;
}

/** Only the name in the middle may contain dots. */
function partsOf(key: string): { section: string; name: string | null; variable: string } {
  const first = key.indexOf(".");
  const last = key.lastIndexOf(".");
  return {
    section: key.slice(0, first).toLowerCase(),
    name: first === last ? null : key.slice(first + 1, last),
    variable: key.slice(last + 1).toLowerCase(),
  };
}
