/**
 * The effect of a logout on running processes. systemd's login manager can end every process of a user at the last logout, unless lingering is
 * enabled for the user.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { isLingering } from "./scope.ts";
import { userName } from "./user.ts";

export interface LogoutEnds {
  ends: "nothing" | "everything" | "unknown";
  what: string;
  remedy: string | null;
}

const KILLS = ["get-property", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "KillUserProcesses"];

export async function logoutEnds(): Promise<LogoutEnds> {
  if (process.platform !== "linux" || !existsSync("/run/systemd/system")) {
    return { ends: "nothing", what: "no login manager ends processes at logout on this machine", remedy: null };
  }
  if (isLingering()) return { ends: "nothing", what: "lingering is enabled: a logout ends no processes", remedy: null };
  const kills = await ask("busctl", KILLS);
  if (kills === "b false") return { ends: "nothing", what: "the login manager does not end processes at logout", remedy: null };
  const remedy = `loginctl enable-linger ${userName()}`;
  if (kills === "b true") return { ends: "everything", what: "the login manager ends all your processes when you log out", remedy };
  return { ends: "unknown", what: "it is not known whether the login manager ends processes at logout", remedy };
}

function ask(program: string, args: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: 3000 }, (error, stdout) => resolve(error ? undefined : stdout.trim()));
  });
}
