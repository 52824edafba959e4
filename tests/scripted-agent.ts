/** A test's own agent: a shell script that shows the lines it gets, and the profile that reads its screen. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import type { TestHome } from "./home.ts";

/** Shows each line that it reads; the rules below know lines such as `work`. */
const PROFILE = `[agents.actor]
command = ["sh", "-c", "printf 'ready\\\\n'; while read -r line; do printf '\\\\033[2J\\\\033[H%s\\\\n' \\"$line\\"; done"]

[[agents.actor.screen]]
name = "asks"
line = "^may I (.*)\\\\?"
waits = "approval"

[[agents.actor.screen]]
name = "limited"
line = "^limit reached"
turn = "idle"
waits = "rate_limit"

[[agents.actor.screen]]
name = "works"
line = "^work"
turn = "working"

[[agents.actor.screen]]
name = "rests"
line = "^ready"
turn = "idle"
`;

export function configure(home: TestHome, more = ""): void {
  const directory = path.join(home.env.HOME ?? "", ".config", "holdfast");
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, "config.toml"), more + PROFILE);
}

/** Starts one, on either host. */
export function act(home: TestHome, name: string, ...flags: string[]): Promise<Session> {
  return home.json<Session>(["spawn", "actor", "--name", name, ...flags]);
}

/** Makes it show a line, even while it waits for an approval. */
export async function shows(home: TestHome, name: string, line: string): Promise<void> {
  await home.ok(["send", name, line, "--force"]);
}
