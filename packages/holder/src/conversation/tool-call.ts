/** Reads a tool call as agents report it: complete or in parts, shown or only in a permission request. */

import { TOOL_KINDS } from "@holdfast/contract/conversation/enums";
import type { AskOption, EntryDraft } from "@holdfast/contract/conversation/transcript";
import { fields, list, text } from "./told.ts";

type Started = Extract<EntryDraft, { type: "tool_started" }>;
type Output = Extract<EntryDraft, { type: "tool_output" }>;

export interface ToldCall extends Pick<Started, "kind" | "files" | "input"> {
  id: string;
  name: string | undefined;
  title: string | undefined;
  status: unknown;
  /** The complete output so far. */
  output: string;
  changes: Output["changes"];
  /** Terminals of the keeper that the call shows. */
  terminals: string[];
}

export function readCall(told: unknown): ToldCall {
  const { toolCallId, title, name, kind, rawInput, rawOutput, locations, status, content } = fields(told);
  // Without an id a substitute is used, because a permission request must not fail for that.
  const id = text(toolCallId) ?? `${JSON.stringify(toolCallId)}`;
  const parts = list(content);
  const said = parts.map((part) => (part.type === "content" ? textOf(part.content) : "")).filter((each) => each !== "");
  return {
    id,
    name: text(name),
    title: text(title) ?? text(name),
    kind: TOOL_KINDS.find((known) => known === kind) ?? "other",
    input: rawInput ?? null,
    files: list(locations).flatMap(({ path }) => text(path) ?? []),
    status,
    output: said.length > 0 ? said.join("\n") : (text(rawOutput) ?? ""),
    changes: parts.flatMap(({ type, path, oldText, newText }) =>
      type === "diff" && typeof path === "string" && typeof newText === "string"
        ? [{ path, old: text(oldText) ?? null, new: newText }]
        : [],
    ),
    terminals: parts.flatMap(({ type, terminalId }) => (type === "terminal" ? (text(terminalId) ?? []) : [])),
  };
}

/** The options of a permission request. An option of an unknown kind is dropped, unless the kind begins like a known one. */
export function optionsOf(told: unknown): AskOption[] {
  return list(told).flatMap(({ optionId, name, kind }) => {
    const id = text(optionId);
    const known = OPTION_KINDS.find((each) => each === kind) ?? nearest(String(kind));
    return id === undefined || known === undefined ? [] : [{ id, name: text(name) ?? id, kind: known }];
  });
}

export function textOf(content: unknown): string {
  const { type, text: words, uri, resource, mimeType } = fields(content);
  if (type === "text") return text(words) ?? "";
  if (type === "resource_link") return text(uri) ?? "";
  if (type === "resource") return text(fields(resource).text) ?? text(fields(resource).uri) ?? "";
  return typeof type === "string" ? `[${[type, text(mimeType)].filter((part) => part !== undefined).join(", ")}]` : "";
}

const OPTION_KINDS = ["allow_once", "allow_always", "reject_once", "reject_always"] as const;

/** An unknown kind of allowing may allow more than was asked, so it is never chosen without `always`. */
function nearest(kind: string): AskOption["kind"] | undefined {
  if (/^allow/.test(kind)) return "allow_always";
  return /^(reject|deny)/.test(kind) ? "reject_once" : undefined;
}
