import { resolve } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "trust revoke",
  summary: "revoke the trust in a project",
  usage: "DIR|HASH",
  description: "Existing workspaces stay unchanged. Holdfast asks again before the project runs or copies anything.",
  arguments: "trusted",
  examples: [
    ["holdfast trust revoke ~/code/app", "revoke everything trusted there"],
    ["holdfast trust revoke 3f9a1c2b7d40", "revoke one entry, by the beginning of its hash"],
  ],
  async run(context) {
    const [ref, ...more] = context.args;
    if (ref === undefined || more.length > 0)
      throw new HoldfastError("usage", "expected one directory or hash", { hint: "list them: holdfast trust ls" });
    const isHash = /^[0-9a-f]{6,64}$/.test(ref);
    const { revoked } = await context.client.call("revokeTrust", { body: { ref: isHash ? ref : resolve(ref) } });
    const lines = revoked.map(({ directory, hash }) => `${plain(directory)}  ${hash.slice(0, 12)} is no longer trusted.`);
    process.stdout.write(`${context.json ? JSON.stringify(revoked) : lines.join("\n")}\n`);
    return 0;
  },
};
