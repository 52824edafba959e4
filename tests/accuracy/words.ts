/** How a person sees on each agent's screen what it does. Written from the agents' screens, apart from the rules that are measured. */
import type { AgentName } from "../real/agents.ts";
import type { Picture } from "./seen.ts";

/** It waits for a prompt, once nothing of the others is there. */
const COMPOSER: Record<AgentName, RegExp> = {
  claude: /^❯/m,
  codex: /^› /m,
  gemini: /^\s*[>*!]\s|^\s*│\s*[>*!] /m,
  opencode: /╹▀▀/,
  qwen: /^[>*!](\s|$)/m,
};

const BUSY: Record<AgentName, RegExp> = {
  claude: /esc to interrupt|^[✢✳✶✻✽·*] \S+….*\(/m,
  // A narrow terminal cuts the hint off.
  codex: /esc to int|Reconnecting\.\.\./,
  gemini: /esc to cancel/,
  opencode: /esc\s+(again to )?interrupt|esc interrupt/,
  qwen: /esc to cancel/,
};

/** A dialog that wants an answer. */
const DIALOG: Record<AgentName, RegExp> = {
  claude: /❯\s*1\.\s|Enter to confirm|Esc to cancel/,
  codex: /›\s*1\.\s|Press enter to confirm/,
  gemini: /●\s*1\.\s/,
  opencode: /Allow once|enter (submit|confirm)|Permission required/,
  qwen: /[›❯]\s*1\.\s|Waiting for user confirmation/,
};

/** It says that it is limited. */
const LIMIT = /\b429\b|rate.?limit|too many requests|usage limit/i;

export function isBusy(agent: AgentName, { lines, title }: Picture): boolean {
  // Qwen says the rest in the language of the system.
  return BUSY[agent].test(lines.join("\n")) || (agent === "qwen" && /^[◐◓◑◒]/.test(title));
}

export function asks(agent: AgentName, { lines }: Picture): boolean {
  return DIALOG[agent].test(lines.join("\n"));
}

export function isReady(agent: AgentName, picture: Picture): boolean {
  return COMPOSER[agent].test(picture.lines.join("\n")) && !isBusy(agent, picture) && !asks(agent, picture);
}

/** Not by the prompt that makes the model say so. */
export function isLimited({ lines }: Picture): boolean {
  return lines.some((line) => LIMIT.test(line) && !/retry-after|error 429/.test(line));
}

export function shows({ lines }: Picture, words: string): boolean {
  return squeezed(lines.join("\n")).includes(squeezed(words));
}

/** Without what a narrow terminal or a frame puts between letters. */
function squeezed(text: string): string {
  return text.replaceAll(/[\s│┃|]+/g, "");
}
