/**
 * Amazon Q Developer CLI, by its documentation and its published source; tried only with a stand-in that behaves as these say (agents/src/amazon-q). It
 * asks for bracketed paste only while it reads a line: that tells its prompt from an answer, which begins with the same mark.
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
  // Its line editor puts further lines at the edge.
  composer: { mark: PROMPT, more: /^/ },
  interrupt: ["C-c"],
  enterAfterMs: 100,
  standIn: true,
};
