/** Names of groups and of shared values. No schema library here: the CLI's hot path may load this file. */
import { HoldfastError } from "../errors.ts";
import { checkName } from "../names.ts";

export const GROUP_DEPTH = 8;
export const KEY_LIMIT = 200;

/** Default member limit of a group. */
export const USUAL_GROUP_LIMIT = 32;
/** Highest member limit; larger groups cannot follow their own messages. */
export const MOST_MEMBERS = 1000;

/** Size of the JSON in bytes. Larger data belongs in a file whose path is shared. */
export const LONGEST_VALUE = 65_536;
export const LONGEST_GOAL = 4000;
export const MOST_KEYS = 1000;

/** Returns the path in Unicode NFC, or throws `invalid_name` with the reason. */
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

/** The group and all groups above it, nearest first. */
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

/** The top-level group. Revisions are counted for it and all groups below it together. */
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
