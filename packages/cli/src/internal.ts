import type { Commands } from "./command.ts";

/** Commands that other programs call: tmux, a remote holdfast, a shell's completion. */
export const INTERNAL: Commands = {
  __next: () => import("./commands/next-key.ts"),
  __wire: () => import("./commands/wire.ts"),
  __complete: () => import("./commands/complete.ts"),
};

export function findInternal(name: string): Commands[string] | undefined {
  return Object.hasOwn(INTERNAL, name) ? INTERNAL[name] : undefined;
}
