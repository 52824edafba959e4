import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "./files.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The user's configuration file. */
export function configurationFile(env: Environment = process.env): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME ?? "/", ".config"), "holdfast", "config.toml");
}

/** Writes atomically and through a link, because the file may be in a repository of dotfiles. Only the user can read their own file. */
export function writeConfiguration(file: string, text: string, whose: "user" | "project"): void {
  const target = existsSync(file) ? realpathSync(file) : file;
  mkdirSync(dirname(target), { recursive: true, mode: whose === "user" ? 0o700 : 0o777 });
  const mode = existsSync(target) ? statSync(target).mode & 0o777 : whose === "user" ? 0o600 : 0o644;
  writeFileAtomic(target, text, mode);
}
