/** How groups and their shared values are called. No schema library here: the CLI's hot path may load this file. */
import { HoldfastError } from "./errors.ts";
import { checkName } from "./names.ts";

export const GROUP_DEPTH = 8;
export const KEY_LIMIT = 200;

/** Members of a group, where nobody says otherwise. */
export const USUAL_GROUP_LIMIT = 32;
/** Above it nobody can follow what is said. */
export const MOST_MEMBERS = 1000;

/** In bytes of its JSON. A longer one belongs into a file that the others are told of. */
export const LONGEST_VALUE = 65_536;
export const LONGEST_GOAL = 4000;
export const MOST_KEYS = 1000;

/** The path in Unicode NFC, or throws what is wrong with it. */
export function checkGroup(input: string): string {
  const parts = input.split("/");
  if (parts.length > GROUP_DEPTH)
    throw new HoldfastError("invalid_name", `groups nest at most ${GROUP_DEPTH} deep, ${JSON.stringify(input)} is ${parts.length} deep`, {
      hint: "use fewer parts",
    });
  try {
    return parts.map(checkName).join("/");
  } catch (error) {
    const { message } = HoldfastError.from(error);
    throw new HoldfastError("invalid_name", `${JSON.stringify(input)} is not a valid group path: ${message}`, {
      hint: "use names of letters, digits, '.', '_' and '-', joined by '/'; for example: team/research",
    });
  }
}

/** The group and those it is in, nearest first. */
export function lineOf(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, parts.length - index).join("/"));
}

export function parentOf(path: string): string | null {
  return lineOf(path)[1] ?? null;
}

export function isBelow(path: string, ancestor: string): boolean {
  return path.startsWith(`${ancestor}/`);
}

/** The one at the top: revisions are counted for it and all below it together. */
export function treeOf(path: string): string {
  return path.split("/", 1)[0] ?? path;
}

const KEY = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}._:/-]*$/u;

export function checkKey(input: string): string {
  const key = input.normalize("NFC");
  const { length } = [...key];
  if (length <= KEY_LIMIT && KEY.test(key)) return key;
  const what =
    length > KEY_LIMIT
      ? `a key has at most ${KEY_LIMIT} characters, this one has ${length}`
      : `the key ${JSON.stringify(key)} is not allowed`;
  throw new HoldfastError("invalid_name", what, {
    hint: "begin with a letter, digit or '_', then also '.', '_', ':', '/' or '-'; for example: api/schema",
  });
}
