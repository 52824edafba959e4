import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { HoldfastError } from "@holdfast/contract/errors";
import { findProgram } from "@holdfast/platform/program";
import type { Command } from "../../command.ts";
import { workspaceRef } from "../../workspace-ref.ts";

export const command: Command = {
  name: "workspace open",
  summary: "open one in an editor, or in a shell",
  usage: "[NAME] [--with PROGRAM]",
  description:
    "With HOLDFAST_EDITOR, else with `code` where that is there, else with $VISUAL or $EDITOR. --with sh opens a shell there, which is left with exit.",
  arguments: "workspaces",
  flags: { with: { value: "PROGRAM", summary: "what to open it with: code, vim, sh", complete: "nothing" } },
  examples: [
    ["holdfast workspace open fix-login", "in your editor"],
    ["holdfast workspace open fix-login --with bash", "in a shell"],
  ],
  async run(context) {
    const { path, portBase } = await context.client.call("getWorkspace", { params: { ref: workspaceRef(context, "open") } });
    if (!existsSync(path))
      throw new HoldfastError("workspace_removed", `there is no directory ${path}`, { hint: "see: holdfast workspace ls --all" });
    const words = (context.flags.text("with") ?? chosen()).split(/\s+/).filter(Boolean);
    const [program = ""] = words;
    if (!findProgram(program, process.env.PATH, process.cwd()))
      throw new HoldfastError("program_not_found", `cannot find the program ${JSON.stringify(program)}`, {
        hint: "name another: --with PROGRAM",
      });
    if (context.json) process.stdout.write(`${JSON.stringify({ path, program })}\n`);
    const isShell = /(^|\/)(sh|bash|zsh|fish|dash|ksh)$/.test(program);
    const child = spawn(program, [...words.slice(1), ...(isShell ? [] : [path])], {
      cwd: path,
      stdio: "inherit",
      env: { ...process.env, HOLDFAST_PORT_BASE: String(portBase) },
    });
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("exit", (code) => resolve(code ?? 1));
    });
  },
};

function chosen(): string {
  const { HOLDFAST_EDITOR, VISUAL, EDITOR, PATH } = process.env;
  const editor = HOLDFAST_EDITOR || (findProgram("code", PATH, process.cwd()) ? "code" : VISUAL || EDITOR);
  if (editor) return editor;
  throw new HoldfastError("usage", "no editor is known", { hint: "set EDITOR, or name one: holdfast workspace open NAME --with PROGRAM" });
}
