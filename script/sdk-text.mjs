/** Writes the SDK's declarations for the package, and its reference page. */
import { comment, indent } from "./sdk-surface.mjs";

/** One file without imports. */
export function declarationsOf(exports) {
  const parts = exports.map((each) => `${comment(each.doc)}${declarationOf(each)}\n`);
  // A project's `lib` may be too old for `using` and Symbol.dispose.
  return `/// <reference lib="esnext.disposable" />\n\n${parts.join("\n")}`;
}

/** Types of another entry come from that entry's declarations. */
export function declarationsBeside(exports, { others, from }) {
  const known = new Set(others.map((each) => JSON.stringify(each)));
  const same = exports.filter((each) => known.has(JSON.stringify(each))).map(({ name }) => name);
  const own = exports.filter(({ name }) => !same.includes(name));
  const used = same.filter((name) => own.some((each) => new RegExp(`\\b${name}\\b`).test(declarationOf(each))));
  return `import type { ${used.join(", ")} } from "${from}";\n\n${declarationsOf(own).replace(/^.*\n\n/, "")}\nexport { ${same.join(", ")} } from "${from}";\n`;
}

function declarationOf({ name, kind, base, members, signature, text }) {
  if (kind === "function") return `export declare function ${name}${signature};`;
  if (kind === "type") return `export type ${name} = ${text};`;
  const head = kind === "class" ? `export declare class ${name}${base ? ` extends ${base}` : ""}` : `export interface ${name}`;
  if (members.length === 0) return `${head} {}`;
  return `${head} {\n${indent(members.map((member) => `${comment(member.doc)}${member.text};`).join("\n"))}\n}`;
}

/** The page links to the documents that describe these types. */
const ELSEWHERE = {
  Endpoints:
    "Every endpoint of the daemon that answers with JSON, by its name, with what it is called with and what it answers: `client.call(name, call)`. [openapi.json](../../openapi.json) describes them.",
  HoldfastEvent: "A fact in the journal. [EVENTS.md](../EVENTS.md) lists the types and what each says.",
  ErrorCode: "The code of an error. [ERRORS.md](../ERRORS.md) lists them.",
};

/** In reading order. Names that are not listed come last. */
const CHAPTERS = {
  "Connect and ask": ["connect", "query", "ConnectOptions", "Holdfast", "UsageOptions"],
  Queries: ["Query", "QueryOptions", "QueryEvent", "QueryResult", "ApprovalAnswer", "TurnUsage"],
  Sessions: [
    "Sessions",
    "SessionOptions",
    "ListOptions",
    "Session",
    "StartOptions",
    "StopOptions",
    "OutputOptions",
    "WaitOptions",
    "SessionRecord",
    "SessionStatus",
    "Screen",
    "Terminal",
    "AttachOptions",
    "PlacedEntry",
    "Entry",
    "TurnEnd",
  ],
  Events: ["EventOptions", "JournalEvent", "HoldfastEvent"],
  Approvals: ["Approvals", "WaitingApproval", "Approval"],
  Messages: ["Messages", "SendOptions", "ListMessages", "Receipt", "Message", "ReadMessage", "MessageState"],
  Groups: [
    "Groups",
    "ShareOptions",
    "GroupSendOptions",
    "GroupMessage",
    "Group",
    "GroupMember",
    "Peer",
    "SharedValue",
    "SharedKey",
    "ValueChange",
    "GroupStats",
  ],
  Errors: [
    "HoldfastError",
    "AbortError",
    "AgentCrashed",
    "BudgetExceeded",
    "DaemonUnreachable",
    "PermissionRefused",
    "RateLimited",
    "Timeout",
    "ToolFailed",
    "Unauthenticated",
    "ErrorCode",
  ],
};

export function referencePage(exports) {
  const named = new Set(Object.values(CHAPTERS).flat());
  const chapters = { ...CHAPTERS, "The wire": exports.map(({ name }) => name).filter((name) => !named.has(name)) };
  const found = (name) => exports.find((each) => each.name === name);
  const missing = [...named].filter((name) => !found(name));
  if (missing.length > 0) throw new Error(`script/sdk-text.mjs tells of ${missing.join(", ")}, which the SDK does not export`);
  const body = Object.entries(chapters).map(([title, names]) => `## ${title}\n\n${names.map((name) => entryOf(found(name))).join("\n")}`);
  return `# SDK reference

Generated from the source by \`npm run openapi\`. [The guide](../guides/script.md#the-sdk) explains how to start.

\`import { connect, query } from "holdfast/sdk"\` on Node; \`holdfast/sdk/browser\` has the same without Node: its \`connect\` takes \`{ url, token }\`, and there is no
\`unixTransport\`.

${body.join("\n")}`;
}

function entryOf({ name, kind, doc, base, members, signature, text }) {
  const elsewhere = ELSEWHERE[name];
  if (elsewhere) return `### ${name}\n\n${elsewhere}\n`;
  const about = doc === "" ? "" : `${doc}\n\n`;
  if (kind === "function") return `### ${name}()\n\n${about}${code(`${name}${signature}`)}`;
  if (kind === "type" && !members) return `### ${name}\n\n${about}${code(`type ${name} = ${text}`)}`;
  const shown = members.filter(({ isHidden, name: member }) => !isHidden && !member.startsWith("["));
  const heading = `### ${name}${base ? ` extends ${base}` : ""}`;
  if (kind !== "class")
    return `${heading}\n\n${about}${code(`{\n${indent(shown.map((each) => `${comment(each.doc)}${each.text};`).join("\n"))}\n}`)}`;
  const own = shown.filter((each) => !(base === "HoldfastError" && each.name === "name"));
  return `${heading}\n\n${about}${own.length === 0 ? "" : `${code(own.map((each) => `${comment(each.doc)}${each.text};`).join("\n"))}`}`;
}

function code(text) {
  return `\`\`\`ts\n${text}\n\`\`\`\n`;
}
