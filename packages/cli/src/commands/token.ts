import type { Token } from "@holdfast/contract/access";
import { HoldfastError } from "@holdfast/contract/errors";
import { SCOPES } from "@holdfast/contract/scopes";
import type { Command, Context } from "../command.ts";
import { formatDuration, parseDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "token",
  summary: "create, list and revoke tokens",
  onlyReads: true,
  section: "Administration",
  onlyPrints: true,
  usage: "[ls | create --scope SCOPE [--name NAME] [--expires 30d] | revoke ID|NAME]",
  description:
    "A token lets a program or a person act under its name, within its scope. owner: everything. driver: start, type into and stop sessions. approver: answer approvals. observer: read. The token is shown once; only its hash is stored. Put it into HOLDFAST_TOKEN.",
  arguments: "token-verbs",
  flags: {
    scope: { value: "SCOPE", summary: "with create: owner, driver, approver or observer", complete: "scopes" },
    name: { value: "NAME", summary: "with create: name in the audit (default: its id)", complete: "nothing" },
    expires: { value: "TIME", summary: "with create: lifetime (default: until revoked)", complete: "nothing" },
  },
  examples: [
    ["holdfast token create --scope observer --name dashboard --expires 30d", "print a new token, once"],
    ["holdfast token ls", "list the tokens"],
    ["holdfast token revoke dashboard", "revoke a token and end its streams"],
  ],
  async run(context) {
    const [verb = "ls", ref, ...more] = context.args;
    const creating = verb === "create";
    if (!creating && ["scope", "name", "expires"].some((flag) => context.flags.text(flag) !== undefined)) throw wrong();
    if (creating && ref === undefined) return create(context);
    if (verb === "ls" && ref === undefined) return list(context);
    if (verb === "revoke" && ref !== undefined && more.length === 0) return revoke(context, ref);
    throw wrong();
  },
};

function wrong(): HoldfastError {
  return new HoldfastError("usage", "expected ls, create --scope SCOPE, or revoke ID|NAME", { hint: "see: holdfast token --help" });
}

/** Prints only the secret on standard output, for `HOLDFAST_TOKEN=$(holdfast token create …)`. */
async function create(context: Context): Promise<number> {
  const given = context.flags.text("scope");
  const scope = SCOPES.find((known) => known === given);
  if (scope === undefined) {
    const what = given === undefined ? "no scope given" : `--scope does not take ${JSON.stringify(given)}`;
    throw new HoldfastError("usage", `${what}: --scope SCOPE`, { candidates: [...SCOPES] });
  }
  const expires = context.flags.text("expires");
  const expiresInMs = expires === undefined ? undefined : parseDuration(expires, "--expires");
  const token = await context.client.call("createToken", { body: { scope, name: context.flags.text("name"), expiresInMs } });
  process.stdout.write(`${context.json ? JSON.stringify(token) : token.token}\n`);
  if (!context.json && process.stderr.isTTY) {
    const until = token.expiresAt === null ? "until revoked" : `until ${local(token.expiresAt)}`;
    process.stderr.write(
      `${plain(token.name)} may act as ${scope} ${until}. The token is shown only once. Use it: HOLDFAST_TOKEN=…; revoke it: holdfast token revoke ${plain(token.name)}\n`,
    );
  }
  return 0;
}

async function list(context: Context): Promise<number> {
  const { tokens } = await context.client.call("listTokens", {});
  if (context.json) process.stdout.write(`${JSON.stringify(tokens)}\n`);
  else
    process.stdout.write(
      `${tokens.length === 0 ? "No tokens. Create one: holdfast token create --scope observer" : table(tokens).join("\n")}\n`,
    );
  return 0;
}

function table(tokens: readonly Token[]): string[] {
  const rows = [
    ["NAME", "ID", "SCOPE", "STATE", "CREATED BY"],
    ...tokens.map((token) => [plain(token.name), token.id, token.scope, state(token), token.createdBy]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function state({ revokedAt, expiresAt }: Token): string {
  if (revokedAt !== null) return `revoked ${local(revokedAt)}`;
  if (expiresAt === null) return "valid until revoked";
  const left = Date.parse(expiresAt) - Date.now();
  return left > 0 ? `valid for ${formatDuration(left)}` : `expired ${local(expiresAt)}`;
}

async function revoke(context: Context, ref: string): Promise<number> {
  const token = await context.client.call("revokeToken", { params: { ref } });
  process.stdout.write(context.json ? `${JSON.stringify(token)}\n` : `${plain(token.name)} was revoked\n`);
  return 0;
}

function local(time: string): string {
  return new Date(time).toLocaleString("sv-SE");
}
