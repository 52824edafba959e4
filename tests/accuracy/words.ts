/** Recognizes what an agent is doing as a person sees it on the screen. Written from the agents' screens, independently of the rules under test. */
import type { AgentName } from "../real/agents.ts";
import type { Picture } from "./seen.ts";

/** The agent waits for a prompt if this matches and no other pattern does. */
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

/** A dialog that needs an answer. */
const DIALOG: Record<AgentName, RegExp> = {
  claude: /❯\s*1\.\s|Enter to confirm|Esc to cancel/,
  codex: /›\s*1\.\s|Press enter to confirm/,
  gemini: /●\s*1\.\s/,
  opencode: /Allow once|enter (submit|confirm)|Permission required/,
  qwen: /[›❯]\s*1\.\s|Waiting for user confirmation/,
};

/** A message about a rate limit. */
const LIMIT = /\b429\b|rate.?limit|too many requests|usage limit/i;

export function isBusy(agent: AgentName, { lines, title }: Picture): boolean {
  // Qwen translates its screen to the system's language; its title spinner stays the same.
  return BUSY[agent].test(lines.join("\n")) || (agent === "qwen" && /^[◐◓◑◒]/.test(title));
}

export function asks(agent: AgentName, { lines }: Picture): boolean {
  return DIALOG[agent].test(lines.join("\n"));
}

export function isReady(agent: AgentName, picture: Picture): boolean {
  return COMPOSER[agent].test(picture.lines.join("\n")) && !isBusy(agent, picture) && !asks(agent, picture);
}

/** Ignores the test prompt that makes the model return the limit. */
export function isLimited({ lines }: Picture): boolean {
  return lines.some((line) => LIMIT.test(line) && !/retry-after|error 429/.test(line));
}

export function shows({ lines }: Picture, words: string): boolean {
  return squeezed(lines.join("\n")).includes(squeezed(words));
}

/** Removes the characters that a narrow terminal or a frame puts between letters. */
function squeezed(text: string): string {
  return text.replaceAll(/[\s│┃|]+/g, "");
}
