import type { Command } from "../../command.ts";

export const command: Command = {
  name: "backup create",
  summary: "make a backup now",
  usage: "",
  examples: [["holdfast backup create", "make a backup and print its name"]],
  async run({ client, json }) {
    const backup = await client.call("createBackup", { body: {} });
    process.stdout.write(json ? `${JSON.stringify(backup)}\n` : `${backup.name}\n`);
    return 0;
  },
};
