/** The user's service that starts the daemon, and the service manager. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";

export const UNIT = "holdfast.service";

export function place(): { file: string; kind: "systemd" | "launchd" } {
  if (process.platform === "darwin") return { file: join(homedir(), "Library/LaunchAgents/dev.holdfast.plist"), kind: "launchd" };
  const configuration = process.env.XDG_CONFIG_HOME || join(homedir(), ".config");
  return { file: join(configuration, "systemd/user", UNIT), kind: "systemd" };
}

/** The command that lets a user's services start at boot, if it is still needed. */
export function lingering(kind: "systemd" | "launchd"): string[] {
  const { username } = userInfo();
  return kind === "launchd" || existsSync(join("/var/lib/systemd/linger", username)) ? [] : [`loginctl enable-linger ${username}`];
}

/** False if the program is missing or fails, as in a container without a service manager. */
export function runs([program = "", ...args]: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore", timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}
