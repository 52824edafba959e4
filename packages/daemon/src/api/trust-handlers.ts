import type { TrustedProjects } from "../workspace/setup/trust.ts";
import type { Handlers } from "./bind.ts";

export type TrustHandlers = Pick<Handlers, "listTrust" | "inspectProject" | "addTrust" | "revokeTrust">;

export function trustHandlers(trusted: TrustedProjects): TrustHandlers {
  return {
    listTrust: () => ({ trusted: trusted.list() }),
    inspectProject: ({ query }) => trusted.inspect(query.cwd),
    addTrust: ({ body }, { actor }) => trusted.add(body, actor),
    revokeTrust: ({ body }, { actor }) => ({ revoked: trusted.revoke(body.ref, actor) }),
  };
}
