/** The panes of the user's own tmux servers, to find agents in them. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract";
import { inspect } from "@holdfast/platform";
import type { ForeignPanes, FoundPane } from "../../place.ts";
import { TMUX_HINT } from "../server.ts";
import { PANES, parsePanes } from "./commands.ts";
import type { ForeignTmux } from "./tmux.ts";

export class PanesOfOthers implements ForeignPanes {
  readonly #tmux: ForeignTmux | undefined;

  constructor(tmux: ForeignTmux | undefined) {
    this.#tmux = tmux;
  }

  async at(socket: string): Promise<FoundPane[]> {
    if (!this.#tmux) throw new HoldfastError("host_missing", "tmux is not on this machine", { hint: TMUX_HINT });
    const answer = await this.#tmux.ask(socket, ["display-message", "-p", "#{pid}", ";", ...PANES]);
    if ("gone" in answer) {
      throw new HoldfastError("not_adoptable", `no tmux server answers at ${socket} (${answer.said})`, {
        hint: "list candidates: holdfast adopt --list",
      });
    }
    const [said, ...lines] = answer.lines;
    const server = { pid: Number(said), start: inspect(Number(said))?.start ?? "" };
    return parsePanes(lines).map((pane) => ({ ...pane, socket, server }));
  }

  async reachable(sockets: Iterable<string>): Promise<FoundPane[]> {
    const all = new Set([...usualSockets(), ...sockets]);
    const found = await Promise.all([...all].map((socket) => this.at(socket).catch(() => [])));
    return found.flat();
  }
}

function usualSockets(): string[] {
  const directory = join("/tmp", `tmux-${process.getuid?.() ?? 0}`);
  try {
    return readdirSync(directory).map((name) => join(directory, name));
  } catch {
    // No server was ever started.
    return [];
  }
}
