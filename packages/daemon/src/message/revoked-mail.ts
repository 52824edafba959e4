/** Messages for a person whose token is revoked are not for a later token of that name: they fail in the transaction of the revocation. */
import { tokenPrincipal } from "@holdfast/contract";
import type { Consequence } from "../journal/journal.ts";
import type { MessageQueries } from "../projection/messages.ts";
import { failure } from "./receipts.ts";

const ALL = -1;

export function revokedMail(messages: MessageQueries): Consequence {
  return ({ type, data }) => {
    if (type !== "token.revoked") return [];
    const why = `the token ${data.name} was revoked before it was read`;
    const hint = "send it to another person: holdfast send --to owner";
    return messages.unread({ person: tokenPrincipal(data.name) }, ALL).map((message) => failure(message, { why, hint, known: true }));
  };
}
