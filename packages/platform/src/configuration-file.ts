import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "./files.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a person's decisions are. */
export function configurationFile(env: Environment = process.env): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME ?? "/", ".config"), "holdfast", "config.toml");
}

/** At once, and through a link to where the file is: it may be in a repository of dotfiles. A person's own is nobody else's to read. */
export function writeConfiguration(file: string, text: string, whose: "user" | "project"): void {
  const target = existsSync(file) ? realpathSync(file) : file;
  mkdirSync(dirname(target), { recursive: true, mode: whose === "user" ? 0o700 : 0o777 });
  const mode = existsSync(target) ? statSync(target).mode & 0o777 : whose === "user" ? 0o600 : 0o644;
  writeFileAtomic(target, text, mode);
}
