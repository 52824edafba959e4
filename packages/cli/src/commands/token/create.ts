import { SCOPES } from "@holdfast/contract/access/scopes";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { parseDuration } from "../../text/duration.ts";
import { localTime } from "../../text/local-time.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "token create",
  summary: "create a token and print it, once",
  usage: "--scope SCOPE [--name NAME] [--expires 30d]",
  flags: {
    scope: { value: "SCOPE", summary: "owner, driver, approver or observer", complete: "scopes" },
    name: { value: "NAME", summary: "name in the audit (default: its id)", complete: "nothing" },
    expires: { value: "TIME", summary: "lifetime (default: until revoked)", complete: "nothing" },
  },
  examples: [["holdfast token create --scope observer --name dashboard --expires 30d", "print a new token, once"]],
  /** Prints only the secret on standard output, for `HOLDFAST_TOKEN=$(holdfast token create …)`. */
  async run(context) {
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
      const until = token.expiresAt === null ? "until revoked" : `until ${localTime(token.expiresAt)}`;
      process.stderr.write(
        `${plain(token.name)} may act as ${scope} ${until}. The token is shown only once. Use it: HOLDFAST_TOKEN=…; revoke it: holdfast token revoke ${plain(token.name)}\n`,
      );
    }
    return 0;
  },
};
