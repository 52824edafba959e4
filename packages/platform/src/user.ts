import { userInfo } from "node:os";

/** Who this process belongs to, in a word; a uid need not have a name (containers). */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}
