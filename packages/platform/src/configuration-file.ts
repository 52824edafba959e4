import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a person's decisions are. */
export function configurationFile(env: Environment = process.env): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME ?? "/", ".config"), "holdfast", "config.toml");
}
