/**
 * What the end of a login does to what it started. systemd's login manager can end every process of a user at the last logout; a
 * user for whom lingering is enabled is spared.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import type { Check } from "./doctor.ts";

export async function loginEnd(): Promise<Check> {
  if (process.platform !== "linux" || !existsSync("/run/systemd/system")) {
    return { id: "login", level: "ok", what: "no login manager here ends processes at logout", remedy: null };
  }
  const user = userInfo().username;
  const lingers = (await ask("loginctl", ["show-user", user, "--property=Linger", "--value"])) === "yes";
  if (lingers) return { id: "login", level: "ok", what: "lingering is enabled: a logout ends nothing", remedy: null };
  const property = [
    "get-property",
    "org.freedesktop.login1",
    "/org/freedesktop/login1",
    "org.freedesktop.login1.Manager",
    "KillUserProcesses",
  ];
  const kills = await ask("busctl", property);
  if (kills === "b false") return { id: "login", level: "ok", what: "the login manager does not end processes at logout", remedy: null };
  return {
    id: "login",
    level: "warning",
    what:
      kills === "b true"
        ? "the login manager ends all your processes at your last logout"
        : "cannot tell whether the login manager ends processes at logout",
    remedy: `loginctl enable-linger ${user}`,
  };
}

function ask(program: string, args: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: 3000 }, (error, stdout) => resolve(error ? undefined : stdout.trim()));
  });
}
