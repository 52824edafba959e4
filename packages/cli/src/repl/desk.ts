/** The environment of a /command: the conversation, the screen, and control over both. */
import type { Conversation } from "@holdfast/contract/conversation/endpoints";
import type { Context } from "../command.ts";
import type { Paint } from "./paint.ts";
import type { Talk } from "./talk.ts";
import type { ConversationView } from "./view.ts";

export interface Desk {
  readonly context: Context;
  readonly talk: Talk;
  readonly view: ConversationView;
  readonly paint: Paint;
  /** The last known state. */
  readonly conversation: Conversation | undefined;
  print(lines: readonly string[]): void;
  say(text: string, options?: { steer?: boolean }): void;
  refresh(): Promise<Conversation>;
  /** Rendered entries of the last turns, separate from the current activity. */
  show(turns: number): Promise<string[]>;
  goTo(name: string): void;
  leave(): void;
}
