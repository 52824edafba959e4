import type { Digests } from "../digest/digests.ts";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { Handlers } from "./bind.ts";

export type DigestHandlers = Pick<Handlers, "getDigest" | "listDigests" | "lookAtSession" | "getLastReply" | "readAgentTranscript">;

export function digestHandlers({ digests, queries }: { digests: Digests; queries: SessionQueries }): DigestHandlers {
  return {
    getDigest: ({ params, query }, { actor }) => digests.of(params.ref, { ...query, actor }),
    listDigests: ({ query }, { actor, reach }) =>
      digests.list({ ...query, actor, within: reach === undefined ? undefined : queries.descendants(reach) }),
    lookAtSession: ({ params, body }, { actor }) => digests.look(params.ref, { ...body, actor }),
    getLastReply: ({ params }) => digests.last(params.ref),
    readAgentTranscript: ({ params, query }) => digests.agentTranscript(params.ref, query),
  };
}
