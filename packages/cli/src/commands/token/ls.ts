import type { Token } from "@holdfast/contract/access/access";
import type { Command } from "../../command.ts";
import { aligned } from "../../text/columns.ts";
import { formatDuration } from "../../text/duration.ts";
import { localTime } from "../../text/local-time.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "token ls",
  summary: "list the tokens",
  onlyReads: true,
  usage: "",
  examples: [["holdfast token ls", "list the tokens with scope and state"]],
  async run({ client, json }) {
    const { tokens } = await client.call("listTokens", {});
    const text = tokens.length === 0 ? "No tokens. Create one: holdfast token create --scope observer" : table(tokens).join("\n");
    process.stdout.write(`${json ? JSON.stringify(tokens) : text}\n`);
    return 0;
  },
};

function table(tokens: readonly Token[]): string[] {
  const rows = [
    ["NAME", "ID", "SCOPE", "STATE", "CREATED BY"],
    ...tokens.map((token) => [plain(token.name), token.id, token.scope, state(token), token.createdBy]),
  ];
  return aligned(rows);
}

function state({ revokedAt, expiresAt }: Token): string {
  if (revokedAt !== null) return `revoked ${localTime(revokedAt)}`;
  if (expiresAt === null) return "valid until revoked";
  const left = Date.parse(expiresAt) - Date.now();
  return left > 0 ? `valid for ${formatDuration(left)}` : `expired ${localTime(expiresAt)}`;
}
