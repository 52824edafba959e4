/**
 * Opens a file of a Working Context in the user's editor. With a daemon on this machine it is the file itself; otherwise it is a copy, written
 * back unless the file changed meanwhile. In that case the copy is kept.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ContextFile, WorkingContext } from "@holdfast/contract/context/context";
import type { ContextFileName } from "@holdfast/contract/context/enums";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Context } from "../command.ts";
import { remoteUrl } from "../connection/running.ts";
import type { Target } from "./read.ts";

export async function editContext({ client }: Context, target: Target, name: ContextFileName): Promise<ContextFile> {
  const made = await client.call("writeContext", { body: target });
  const file = fileOf(made, name);
  if (remoteUrl() === undefined) {
    openEditor(file.path);
    return fileOf(await client.call("getContext", { query: target }), name);
  }
  if (file.cut) {
    throw new HoldfastError("file_unusable", `${name} is too long to edit remotely`, { hint: `edit it there: ${file.path}` });
  }
  const copy = join(mkdtempSync(join(tmpdir(), "holdfast-")), name);
  writeFileSync(copy, file.text);
  openEditor(copy);
  const text = readFileSync(copy, "utf8");
  const { digest } = file;
  try {
    const written =
      text === file.text ? made : await client.call("writeContext", { body: { ...target, write: { file: name, text, digest } } });
    rmSync(join(copy, ".."), { recursive: true, force: true });
    return fileOf(written, name);
  } catch (error) {
    const { code, message, hint } = HoldfastError.from(error);
    throw new HoldfastError(code, message, { hint: `${hint === undefined ? "" : `${hint}; `}your text is in ${copy}`, cause: error });
  }
}

function fileOf({ files }: WorkingContext, name: ContextFileName): ContextFile {
  const file = files.find((each) => each.name === name);
  if (!file) throw new HoldfastError("internal", `the daemon does not know ${name}`);
  return file;
}

/** Runs through a shell: `EDITOR="code --wait"` is a program and an argument. */
function openEditor(path: string): void {
  const editor = process.env.VISUAL || process.env.EDITOR || "vi";
  const { status, signal, error } = spawnSync("/bin/sh", ["-c", `${editor} "$@"`, editor, path], { stdio: "inherit" });
  if (status === 0) return;
  const how = error ? error.message : status === 127 ? "not found" : signal ? `ended by ${signal}` : `exit code ${status}`;
  throw new HoldfastError("file_unusable", `the editor ${JSON.stringify(editor)} failed: ${how}`, {
    hint: `choose another: EDITOR=nano holdfast context edit; or edit ${path} yourself`,
  });
}
