import { userInfo } from "node:os";

/** Name of the user of this process; a uid need not have a name (containers). */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}
