import type { Transcripts } from "../conversation/transcripts.ts";
import type { ConversationVerbs } from "../conversation/verbs.ts";
import type { Sessions } from "../session/sessions.ts";
import type { Handlers } from "./bind.ts";

export type ConversationHandlers = Pick<
  Handlers,
  "readTranscript" | "followTranscript" | "getConversation" | "setConversation" | "clearConversation" | "cancelTurn"
>;

export function conversationHandlers(rooms: {
  transcripts: Transcripts;
  verbs: ConversationVerbs;
  sessions: Sessions;
}): ConversationHandlers {
  const { transcripts, verbs, sessions } = rooms;
  return {
    readTranscript: ({ params, query }) => {
      const record = transcripts.resolve(params.ref);
      return { session: sessions.brief(record.id), ...transcripts.read(record, query) };
    },
    followTranscript: ({ params, query }, { signal }) => {
      // Refused before the stream begins.
      const { id } = transcripts.resolve(params.ref);
      return transcripts.follow(id, { ...query, signal });
    },
    getConversation: ({ params }) => verbs.get(params.ref),
    setConversation: ({ params, body }) => verbs.set(params.ref, body),
    clearConversation: ({ params }) => verbs.clear(params.ref),
    cancelTurn: ({ params, body }, { actor, scope, signal }) => {
      sessions.terminals.checkTyping(params.ref, { actor, scope });
      return verbs.cancel(params.ref, actor, { ...body, signal });
    },
  };
}
