/** The file of a run from which its agent takes messages, one per line: the channel of its profile. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Home, runDirectory } from "@holdfast/platform";
import type { Channel } from "../agent/profile.ts";
import type { RunId } from "../host/host.ts";

export class ChannelFile {
  readonly #path: string;
  readonly #channel: Channel;

  private constructor(path: string, channel: Channel) {
    this.#path = path;
    this.#channel = channel;
  }

  /** Undefined if this run has no channel. */
  static find(home: Home, { session, run }: RunId, channel: Channel): ChannelFile | undefined {
    const path = join(runDirectory(home, session, run), "hooks", channel.file);
    return existsSync(path) ? new ChannelFile(path, channel) : undefined;
  }

  has(id: string): boolean {
    return this.#read().includes(JSON.stringify(id));
  }

  append(message: { id: string; text: string }): void {
    const before = this.#read();
    // A full disk left half a line: a line appended to it would be lost.
    const torn = before !== "" && !before.endsWith("\n");
    appendFileSync(this.#path, `${torn ? "\n" : ""}${this.#channel.line(message)}\n`);
  }

  #read(): string {
    return readFileSync(this.#path, "utf8");
  }
}
