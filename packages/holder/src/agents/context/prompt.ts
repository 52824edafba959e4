/** The text that a command gets: only the prompt if it remembers the rest, and otherwise the earlier turns too, marked as such. */
import type { Kept } from "./kept.ts";
import { cutShort, type Turn } from "./turn.ts";

export function renderPrompt({ prompt, system, kept }: { prompt: string; system: string | null; kept: Kept | null }): string {
  const parts: string[] = [];
  if (system !== null) parts.push(marked("instructions", system));
  if (kept && (kept.first.length > 0 || kept.last.length > 0 || kept.leftOut)) parts.push(marked("conversation", renderConversation(kept)));
  if (parts.length === 0) return prompt;
  return [...parts, marked("prompt", prompt)].join("\n\n");
}

function renderConversation({ first, last, leftOut }: Kept): string {
  const gap = leftOut === null ? [] : [`[Turns omitted here: ${leftOut.to - leftOut.from + 1}.]`];
  return ["The conversation so far. Answer the prompt below it.", ...first.map(renderTurn), ...gap, ...last.map(renderTurn)].join("\n\n");
}

function renderTurn(turn: Turn): string {
  const said = turn.said.map((each) => {
    if (each.kind === "steer") return `User:\n${each.text}`;
    if (each.kind === "text") return `You:\n${each.text.trim()}`;
    return `You used a tool: ${each.title}${each.ok === false ? " (failed)" : ""}`;
  });
  return [`User:\n${turn.prompt}`, ...said, cutShort(turn) ?? []].flat().join("\n\n");
}

/** The text inside the tag cannot close it. */
function marked(name: string, text: string): string {
  return `<${name}>\n${text.replaceAll(`</${name}>`, `<\\/${name}>`)}\n</${name}>`;
}
