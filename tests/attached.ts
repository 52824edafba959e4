import path from "node:path";
import { ROOT, type TestHome } from "./home.ts";
import { Terminal } from "./terminal.ts";

/** A terminal in which `holdfast` can be typed as a user types it. */
export function openTerminal(home: TestHome, size: { columns?: number; rows?: number } = {}): Terminal {
  return new Terminal({ env: { ...home.env, PATH: `${path.join(ROOT, "bin")}:${home.env.PATH}` }, ...size });
}

/** A terminal that is attached to the session; `flags` go to attach. The status bar shows that tmux has taken over. */
export function attachTerminal(
  home: TestHome,
  options: { ref: string; name?: string; flags?: string; columns?: number; rows?: number },
): Promise<Terminal> {
  return openTerminal(home, options).after(async (terminal) => {
    await terminal.command(`holdfast attach ${options.flags ?? ""} ${options.ref}`);
    await terminal.shows(barOf(options.name ?? options.ref));
  });
}

/** The last line of an attached terminal. */
export function barOf(name: string): RegExp {
  return new RegExp(`^ ${name} · \\w+ .*Ctrl\\+\\\\ detaches`, "m");
}
