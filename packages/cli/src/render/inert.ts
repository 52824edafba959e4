// Makes characters visible that reorder or break the surrounding text and so disguise it: bidirectional controls, line and paragraph separators,
// annotations. The emulator leaves no other control characters.
const REORDERING = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb]/g;

export function inert(text: string): string {
  return text.replace(REORDERING, "\ufffd");
}

// Removes them instead, where a row must keep its width: these characters take no column.
export function withoutReordering(text: string): string {
  return text.replace(REORDERING, "");
}
