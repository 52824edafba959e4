import { CONTEXT_FILES, type ContextFileName } from "@holdfast/contract/context/enums";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { targetOf } from "../../context/read.ts";
import { shortPath } from "../../text/fit.ts";

export const command: Command = {
  name: "context edit",
  summary: "open a file of the Working Context in your editor; creates missing files",
  usage: "[FILE] [NAME]",
  description: "FILE is background, plan (default), log or results. The editor is $VISUAL, else $EDITOR, else vi.",
  arguments: "context-files",
  examples: [
    ["holdfast context edit", "edit the plan of this directory"],
    ["holdfast context edit background fix-login", "edit the background of a session or workspace"],
    ["EDITOR='code --wait' holdfast context edit log", "edit the working log"],
  ],
  async run(context) {
    const named = context.args.map(fileNamed);
    const files = named.filter((file) => file !== undefined);
    const names = context.args.filter((_, i) => named[i] === undefined);
    if (files.length > 1 || names.length > 1) {
      throw new HoldfastError("usage", "expected one file, and one session or workspace", { hint: "see: holdfast context edit --help" });
    }
    const { editContext } = await import("../../context/edit.ts");
    const file = await editContext(context, targetOf(names[0]), files[0] ?? "plan.md");
    if (context.json) process.stdout.write(`${JSON.stringify(file)}\n`);
    else if (process.stderr.isTTY) process.stderr.write(`${shortPath(file.path)}${file.state === "empty" ? " is still empty" : ""}\n`);
    return 0;
  },
};

/** Accepts `plan.md` and `plan`; for `working-log.md` also `log`. */
function fileNamed(word: string): ContextFileName | undefined {
  return CONTEXT_FILES.find((file) => [file, file.slice(0, -3), ...file.slice(0, -3).split("-")].includes(word));
}
