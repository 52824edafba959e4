/**
 * Copies an opencode conversation to another directory with opencode's own export and import, because its `--fork` continues in the original's
 * directory. Import skips existing ids, so all ids are replaced. The time part of each id stays, and with it the order.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract";
import type { Copied, CopyPlace } from "../fork.ts";

/** opencode takes five seconds to start on an idle machine. */
const PATIENCE_MS = 120_000;

/** Length of the random part that follows the time in an id. */
const RANDOM_PART = 14;

interface Exported {
  info: { id: string };
  messages: { info: { id: string; parentID?: string }; parts: { id: string }[] }[];
}

export async function copyOpencodeConversation(place: CopyPlace): Promise<Copied> {
  const scratch = mkdtempSync(join(tmpdir(), "holdfast-fork-"));
  try {
    // To a file, because opencode may not write the end of its output to a pipe.
    const exported = join(scratch, "export.json");
    await opencode(place, ["export", place.from], exported);
    const copy = renumbered(readExport(exported, place.from));
    const file = join(scratch, "import.json");
    writeFileSync(file, JSON.stringify(copy), { mode: 0o600 });
    await opencode(place, ["import", file], join(scratch, "said"));
    const { id } = copy.info;
    return { id, undo: () => opencode(place, ["session", "delete", id], "/dev/null") };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function readExport(file: string, id: string): Exported {
  try {
    const exported = JSON.parse(readFileSync(file, "utf8")) as Exported;
    if (exported.info.id === id && Array.isArray(exported.messages)) return exported;
  } catch {
    // Reported below.
  }
  throw new HoldfastError("conversation_unknown", `opencode did not export the conversation ${id}`, {
    hint: "check that opencode has it: opencode session list; nothing was started",
  });
}

export function renumbered({ info, messages }: Exported): Exported {
  const ids = new Map<string, string>();
  const newId = (id: string) => {
    const made = ids.get(id) ?? `${id.slice(0, -RANDOM_PART)}${randomPart()}`;
    ids.set(id, made);
    return made;
  };
  const sessionID = newId(info.id);
  return {
    info: { ...info, id: sessionID },
    messages: messages.map(({ info: message, parts }) => {
      const messageID = newId(message.id);
      const parent = message.parentID === undefined ? {} : { parentID: newId(message.parentID) };
      return {
        info: { ...message, ...parent, id: messageID, sessionID },
        parts: parts.map((part) => ({ ...part, id: newId(part.id), sessionID, messageID })),
      };
    }),
  };
}

function randomPart(): string {
  const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return [...randomBytes(RANDOM_PART)].map((byte) => LETTERS[byte % LETTERS.length]).join("");
}

async function opencode({ program, directory, env }: CopyPlace, args: readonly string[], output: string): Promise<void> {
  const [command = "opencode", ...first] = program;
  const out = openSync(output, "w", 0o600);
  let child: ChildProcess;
  try {
    child = spawn(command, [...first, ...args], { cwd: directory, env: { ...env }, stdio: ["ignore", out, "pipe"], timeout: PATIENCE_MS });
  } finally {
    closeSync(out);
  }
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    said = `${said}${chunk}`.slice(-2000);
  });
  const ended = await new Promise<number | string | null>((done) => {
    child.once("error", (error) => done(error.message)).once("close", (code, signal) => done(code ?? signal));
  });
  if (ended === 0) return;
  const last = said.trim().split("\n").at(-1);
  throw new HoldfastError("fork_refused", `opencode ${args[0]} failed (${ended})${last ? `: ${last}` : ""}`, {
    hint: "the conversation was not copied, and nothing was started",
  });
}
