/** Limit for the output of a tool: more would fill the context with text that the model can request again. */
export const MOST_BYTES = 40_000;
export const MOST_LINES = 2000;
export const MOST_ENTRIES = 500;
