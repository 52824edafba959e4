/** Tab completion: /commands and their arguments, and files after an @. */
import type { Desk } from "./desk.ts";
import type { Candidates } from "./editor/editor.ts";
import type { Files } from "./files.ts";
import { SLASHES } from "./slash.ts";

const NOTHING: Candidates = { from: 0, words: [] };

export async function candidatesFor(
  text: string,
  cursor: number,
  at: { desk: Desk | undefined; files: Files | undefined },
): Promise<Candidates> {
  const before = text.slice(0, cursor);
  const file = /(?:^|\s)@(\S*)$/.exec(before);
  if (file) {
    const words = file[1] ?? "";
    const found = (await at.files?.matching(words)) ?? [];
    return { from: cursor - words.length, words: found };
  }
  const command = /^\/(\S*)$/.exec(before);
  if (command) {
    const own = (at.desk?.conversation?.settings?.commands ?? []).map(({ name }) => name);
    const names = [...new Set([...Object.keys(SLASHES), ...own])].map((name) => `/${name}`);
    return { from: 0, words: names.filter((name) => name.startsWith(before)) };
  }
  const [, name = "", word = ""] = /^\/(\S+)\s+(\S*)$/.exec(before) ?? [];
  const slash = Object.hasOwn(SLASHES, name) ? SLASHES[name] : undefined;
  if (!slash?.words || !at.desk) return NOTHING;
  const words = (await slash.words(at.desk)).filter((each) => each.startsWith(word));
  return { from: cursor - word.length, words };
}
