import type { Principal, SessionId } from "@holdfast/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { Journal } from "../journal/journal.ts";
import { pruneEvents } from "../journal/prune.ts";
import { TokenQueries, tokensProjection } from "./tokens.ts";

const ACTOR = "user:tester" as Principal;

const steps = fc.array(
  fc.record({ verb: fc.constantFrom("create", "revoke", "expire", "prune"), token: fc.nat(5), expires: fc.boolean() }),
  {
    maxLength: 60,
    size: "max",
  },
);

test("tokens rebuilt from the journal equal the live ones after any events and any pruning", () => {
  let most = 0;
  fc.assert(
    fc.property(steps, (list) => {
      const db = openDatabase(":memory:");
      const journal = new Journal({ db, projections: [tokensProjection], machineName: "box" });
      const queries = new TokenQueries(db);
      for (const [index, { verb, token, expires }] of list.entries()) {
        const live = queries.find(`t${token}`);
        if (verb === "create" && !live) {
          const data = {
            id: `id${index}`,
            name: `t${token}`,
            scope: "driver",
            hash: `h${index}`,
            expiresAt: expires ? "2030-01-01T00:00:00.000Z" : null,
          };
          journal.append({ type: "token.created", actor: ACTOR, session: null, data: { ...data, scope: "driver" } });
        } else if (verb === "revoke" && live) {
          journal.append({ type: "token.revoked", actor: ACTOR, session: null, data: { id: live.id, name: live.name } });
        } else if (verb === "expire" && live) {
          journal.append({ type: "token.expired", actor: ACTOR, session: null, data: { id: live.id, name: live.name } });
        } else if (verb === "prune") {
          // An event that may be pruned, with a cutoff after every event.
          journal.append({ type: "access.refused", actor: ACTOR, session: null, data: { endpoint: "spawn", why: "x", more: 0 } });
          const nothing = { snapshot: () => undefined, isThere: (_: SessionId) => true, forget: () => {} };
          pruneEvents(journal, { before: "9999-01-01T00:00:00.000Z", actor: ACTOR, ...nothing });
          expect(journal.readAfter(0, 1000, { types: ["access.refused"] })).toEqual([]);
        }
      }
      const dump = () => db.prepare("SELECT * FROM tokens ORDER BY id").all();
      const before = dump();
      most = Math.max(most, before.length);
      journal.rebuild();
      expect(dump()).toEqual(before);
      db.close();
    }),
    { numRuns: 100 },
  );
  expect(most).toBeGreaterThan(5);
});
