/** How much of what a tool finds a model is given: more would fill its context with what it can ask for again. */
export const MOST_BYTES = 40_000;
export const MOST_LINES = 2000;
export const MOST_ENTRIES = 500;
