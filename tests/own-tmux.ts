/** A user's own tmux server, separate from Holdfast's, and an agent to run in it. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { TestHome } from "./home.ts";

/** Shows each line that it reads on an empty screen; `bye` ends it. */
const AGENT = `#!/bin/sh
printf 'ready %s\\n' "$*"
while read -r line; do
  [ "$line" = bye ] && exit 3
  printf '\\033[2J\\033[H%s\\n' "$line"
done
`;

const PROFILE = `[agents.actor]
command = ["actor"]
resume = ["--resume", "{id}"]
fork = ["--fork", "{from}"]

[[agents.actor.screen]]
name = "asks"
line = "^may I (.*)\\\\?"
waits = "approval"

[[agents.actor.screen]]
name = "works"
line = "^work"
turn = "working"

[[agents.actor.screen]]
name = "rests"
line = "^ready"
turn = "idle"
`;

export class OwnTmux implements Disposable {
  /** The name that `tmux -L` takes. */
  readonly name = `hf-own-${randomBytes(4).toString("hex")}`;
  readonly #env: Record<string, string>;
  readonly #directory: string;

  /** Has a session `work` with a shell for the user. */
  constructor(home: TestHome) {
    const bin = path.join(home.root, "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(path.join(bin, "actor"), AGENT);
    chmodSync(path.join(bin, "actor"), 0o755);
    const { HOLDFAST_HOME: _, ...env } = home.env;
    home.env.PATH = `${bin}:${env.PATH}`;
    this.#env = { ...env, PATH: `${bin}:${env.PATH}`, PS1: "$ " };
    const configuration = path.join(home.env.HOME ?? "", ".config", "holdfast");
    mkdirSync(configuration, { recursive: true });
    writeFileSync(path.join(configuration, "config.toml"), PROFILE);
    this.#directory = home.root;
    this.begin();
  }

  /** Returns the command's output. */
  run(...words: string[]): string {
    const { status, stdout, stderr } = spawnSync("tmux", ["-u", "-L", this.name, "-f", "/dev/null", ...words], {
      encoding: "utf8",
      env: this.#env,
    });
    if (status !== 0) throw new Error(`tmux ${words.join(" ")}: ${stderr}`);
    return stdout;
  }

  get serverPid(): number {
    return Number(this.run("display-message", "-p", "#{pid}"));
  }

  /** Replaces the server and its programs with another one of the same name and session. */
  begin(): void {
    this.run("new-session", "-d", "-s", "work", "-x", "100", "-y", "30", "-c", this.#directory, "sh");
  }

  type(line: string, pane = "work"): void {
    this.run("send-keys", "-t", pane, line, "Enter");
  }

  screen(pane = "work"): string {
    return this.run("capture-pane", "-p", "-t", pane);
  }

  /** Everything that Holdfast could have changed. */
  state(): string {
    const options = ["-g", "-s", "-gw"].map((scope) => this.run("show-options", scope)).join("");
    const hooks = this.run("show-hooks", "-g");
    const local =
      this.run("show-options", "-t", "work") + this.run("show-options", "-w", "-t", "work") + this.run("show-hooks", "-t", "work");
    const layout = this.run("list-windows", "-a", "-F", "#{session_name} #{window_id} #{window_layout} #{window_name} #{window_active}");
    return [options, hooks, local, layout, this.run("list-buffers"), this.run("list-keys"), this.run("list-clients")].join("\n");
  }

  [Symbol.dispose](): void {
    spawnSync("tmux", ["-L", this.name, "kill-server"], { env: this.#env });
    rmSync(path.join("/tmp", `tmux-${process.getuid?.() ?? 0}`, this.name), { force: true });
  }
}
