import type { Command } from "../../command.ts";
import { plain } from "../../plain.ts";
import { callerEnvironment } from "../../start-session.ts";
import { workspaceRef } from "../../workspace-ref.ts";
import { printNotes, pushedText } from "../../workspace-text.ts";

export const command: Command = {
  name: "workspace pr",
  summary: "push its branch and open a pull request, with gh",
  usage: "[NAME] [--title TEXT] [--draft]",
  description:
    "Its text is what the agent wrote to results-summary.md of the Working Context, else the commits. Where there is one already, it has the new commits.\nWithout gh on your PATH the branch is pushed all the same.",
  arguments: "workspaces",
  flags: {
    title: { value: "TEXT", summary: "its title (default: the first line of the first commit)", complete: "nothing" },
    draft: { summary: "not ready for review yet" },
  },
  examples: [
    ["holdfast workspace pr fix-login", "prints its address"],
    ['holdfast workspace pr fix-login --draft --title "Mend the login"', "as a draft"],
  ],
  async run(context) {
    const { flags } = context;
    const body = { env: callerEnvironment(), title: flags.text("title"), draft: flags.has("draft") };
    const outcome = await context.client.call("openPullRequest", { params: { ref: workspaceRef(context, "pr") }, body });
    process.stdout.write(context.json ? `${JSON.stringify(outcome)}\n` : `${plain(outcome.url)}\n`);
    if (context.json) return 0;
    process.stderr.write(`${outcome.existed ? "It was there already. " : ""}${pushedText(outcome.pushed)}\n`);
    printNotes(outcome.notes);
    return 0;
  },
};
