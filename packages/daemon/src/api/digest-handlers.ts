import type { Principal } from "@holdfast/contract";
import type { Digests } from "../digest/digests.ts";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { Handlers } from "./bind.ts";

export type DigestHandlers = Pick<Handlers, "getDigest" | "listDigests" | "lookAtSession" | "getLastReply" | "readAgentTranscript">;

interface Rooms {
  digests: Digests;
  queries: SessionQueries;
  /** Marks a failure as seen at once, because looks are recorded up to a minute later. */
  seen(ref: string, actor: Principal): void;
}

export function digestHandlers({ digests, queries, seen }: Rooms): DigestHandlers {
  return {
    getDigest: ({ params, query }, { actor }) => digests.of(params.ref, { ...query, actor }),
    listDigests: ({ query }, { actor, reach }) =>
      digests.list({ ...query, actor, within: reach === undefined ? undefined : queries.descendants(reach) }),
    lookAtSession: ({ params, body }, { actor }) => {
      const { id, failure } = queries.resolve(params.ref);
      if (failure !== null) seen(id, actor);
      return digests.look(params.ref, { ...body, actor });
    },
    getLastReply: ({ params }) => digests.last(params.ref),
    readAgentTranscript: ({ params, query }) => digests.agentTranscript(params.ref, query),
  };
}
