// What a program printed, for a person to read: characters that reorder or break the text around them, and so make it look like another
// (bidirectional controls, line and paragraph separators, annotations), are made visible. An emulator leaves no other control characters.
const REORDERING = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb]/g;

export function inert(text: string): string {
  return text.replace(REORDERING, "\ufffd");
}

// The same where a row must keep its width: these characters take no column.
export function withoutReordering(text: string): string {
  return text.replace(REORDERING, "");
}
