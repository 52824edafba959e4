/** Placeholder of an agent without a token. Gemini passes variables that look like secrets only if the entry names them. */
export const NO_TOKEN = "none";
