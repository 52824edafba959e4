import type { Command } from "../../command.ts";
import { callerEnvironment } from "../../session/start.ts";
import { plain } from "../../text/plain.ts";
import { workspaceRef } from "../../workspace/ref.ts";
import { printNotes, pushedText } from "../../workspace/text.ts";

export const command: Command = {
  name: "workspace pr",
  summary: "push the branch and open a pull request with gh",
  usage: "[NAME] [--title TEXT] [--draft]",
  description:
    "The description is results-summary.md of the Working Context, or else the commit messages. An existing pull request gets the new commits. Without gh on your PATH, the branch is still pushed.",
  arguments: "workspaces",
  flags: {
    title: { value: "TEXT", summary: "title (default: the subject of the first commit)", complete: "nothing" },
    draft: { summary: "open it as a draft" },
  },
  examples: [
    ["holdfast workspace pr fix-login", "print the address of the pull request"],
    ['holdfast workspace pr fix-login --draft --title "Mend the login"', "open a draft"],
  ],
  async run(context) {
    const { flags } = context;
    const body = { env: callerEnvironment(), title: flags.text("title"), draft: flags.has("draft") };
    const outcome = await context.client.call("openPullRequest", { params: { ref: workspaceRef(context, "pr") }, body });
    process.stdout.write(context.json ? `${JSON.stringify(outcome)}\n` : `${plain(outcome.url)}\n`);
    if (context.json) return 0;
    process.stderr.write(`${outcome.existed ? "The pull request already exists. " : ""}${pushedText(outcome.pushed)}\n`);
    printNotes(outcome.notes);
    return 0;
  },
};
