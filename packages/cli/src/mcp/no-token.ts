/** What an agent that was told of the server says in place of a token, where it has none: it keeps to itself what looks like a secret, unless it is told by name. */
export const NO_TOKEN = "none";
