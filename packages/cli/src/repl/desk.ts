/** What a /command has at hand: the conversation, the screen, and whoever leads both. */
import type { Conversation } from "@holdfast/contract/conversation-endpoints";
import type { Context } from "../command.ts";
import type { Paint } from "./paint.ts";
import type { Talk } from "./talk.ts";
import type { ConversationView } from "./view.ts";

export interface Desk {
  readonly context: Context;
  readonly talk: Talk;
  readonly view: ConversationView;
  readonly paint: Paint;
  /** As it was last heard of. */
  readonly conversation: Conversation | undefined;
  print(lines: readonly string[]): void;
  say(text: string, options?: { steer?: boolean }): void;
  refresh(): Promise<Conversation>;
  /** Entries as they look, apart from what goes on. */
  show(turns: number): Promise<string[]>;
  goTo(name: string): void;
  leave(): void;
}
