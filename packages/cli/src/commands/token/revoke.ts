import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "token revoke",
  summary: "revoke a token and end its streams",
  usage: "ID|NAME",
  arguments: "nothing",
  examples: [["holdfast token revoke dashboard", "revoke a token by its name"]],
  async run({ args: [ref, ...more], client, json }) {
    if (ref === undefined || more.length > 0)
      throw new HoldfastError("usage", "expected one token", { hint: "list them: holdfast token ls" });
    const token = await client.call("revokeToken", { params: { ref } });
    process.stdout.write(json ? `${JSON.stringify(token)}\n` : `${plain(token.name)} was revoked\n`);
    return 0;
  },
};
