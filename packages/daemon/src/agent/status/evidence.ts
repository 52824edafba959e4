/**
 * What is known about what an agent is doing, and from where. Evidence claims something about an axis, or nothing; it never says
 * `unknown`: that is the answer when there is no evidence that can be trusted.
 */

/** From the most trusted to the least. */
export const SOURCES = ["protocol", "hook", "state_file", "title", "screen"] as const;
export type Source = (typeof SOURCES)[number];

export type Turn = "idle" | "working";

/** What an agent wants a person for. */
export const WAITS = ["approval", "question", "trust", "login", "rate_limit"] as const;
export type Wait = (typeof WAITS)[number];

export interface Attention {
  for: Wait;
  /** In the agent's own words, where it has some. */
  text: string | null;
  /** When it goes on by itself; for a rate limit that says so. */
  until: number | null;
}

/** A missing axis: nothing is said about it. `attention: null`: it wants nobody. */
export interface Claim {
  turn?: Turn;
  attention?: Attention | null;
  background?: boolean;
}

export interface Evidence {
  source: Source;
  /** When it was so: of a screen, when its last byte came. */
  at: number;
  claim: Claim;
  /** What was seen, for `explain`: a hook's name, a rule's name and the line that fitted it. */
  what: string;
  /** Only of titles and screens: it has stayed like this, and is not a frame of something that moves on. */
  settled?: boolean;
}
