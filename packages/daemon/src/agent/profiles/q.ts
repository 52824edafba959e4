/**
 * Amazon Q Developer CLI, by its documentation and published source; tried only with a stand-in that follows these (agents/src/amazon-q). It enables
 * bracketed paste only while it reads a line, which distinguishes its prompt from an answer that begins with the same mark.
 */
import type { Profile } from "../profile.ts";

const PROMPT = /^(\[[^\]]+\] )?(\d+% )?(↯ )?!?>( |$)/;

export const q: Profile = {
  name: "q",
  description: "Amazon Q CLI",
  kind: "terminal",
  command: ["q", "chat"],
  version: ["--version"],
  prompt: ["{prompt}"],
  arguments: { positional: true, bare: /^(-[ar]|--(legacy|resume|trust-all-tools))$/, once: /^--no-interactive$/ },
  conversation: { begin: [], resume: ["--resume"], perDirectory: true, flags: /^(--resume|-r)$/ },
  screen: [
    {
      name: "permission prompt",
      reads: true,
      line: /^Allow this action\? Use 't' to trust/,
      within: 3,
      waits: "approval",
      turn: "working",
    },
    { name: "prompt", reads: true, line: PROMPT, within: 50, turn: "idle", calm: true },
    { name: "spinner", reads: false, foot: /^[\u2800-\u28ff] \S.*\.\.\./u, turn: "working", calm: true },
    { name: "answer", reads: false, line: PROMPT, within: 200, turn: "working", calm: true },
  ],
  approvals: {
    screen: {
      from: /^🛠️ +Using tool: /u,
      to: /^Allow this action\? .*\[y\/n\/t\]:$/,
      keys: {
        marked: /^Allow this action\?/,
        allows: /^Allow this action\? .*\[y\/n\/t\]:$/,
        allow: ["y", "Enter"],
        deny: ["n", "Enter"],
      },
    },
  },
  // Its line editor does not indent further lines.
  composer: { mark: PROMPT, more: /^/ },
  interrupt: ["C-c"],
  enterAfterMs: 100,
  standIn: true,
};
