import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { HoldfastError } from "@holdfast/contract/errors";
import { findProgram } from "@holdfast/platform/program";
import type { Command } from "../../command.ts";
import { workspaceRef } from "../../workspace/ref.ts";

export const command: Command = {
  name: "workspace open",
  summary: "open a workspace in an editor or a shell",
  usage: "[NAME] [--with PROGRAM]",
  description: "Uses HOLDFAST_EDITOR, else code if installed, else $VISUAL or $EDITOR. --with sh opens a shell there; leave it with exit.",
  arguments: "workspaces",
  flags: { with: { value: "PROGRAM", summary: "program to open it with: code, vim, sh", complete: "nothing" } },
  examples: [
    ["holdfast workspace open fix-login", "open it in your editor"],
    ["holdfast workspace open fix-login --with bash", "open it in a shell"],
  ],
  async run(context) {
    const { path, portBase } = await context.client.call("getWorkspace", { params: { ref: workspaceRef(context, "open") } });
    if (!existsSync(path))
      throw new HoldfastError("workspace_removed", `directory ${path} does not exist`, {
        hint: "list all workspaces: holdfast workspace ls --all",
      });
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
  throw new HoldfastError("usage", "no editor found", { hint: "set EDITOR, or name one: holdfast workspace open NAME --with PROGRAM" });
}
