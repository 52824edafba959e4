/** What a principal may do. No schema library here: the CLI completes these words. */
export const SCOPES = ["owner", "driver", "approver", "observer"] as const;

export type Scope = (typeof SCOPES)[number];

/** An owner may do everything; who may drive or answer may also look. */
const GRANTS: Readonly<Record<Scope, readonly Scope[]>> = {
  owner: SCOPES,
  driver: ["driver", "observer"],
  approver: ["approver", "observer"],
  observer: ["observer"],
};

/** Whether a principal of scope `has` may do what needs `needs`. */
export function grants(has: Scope, needs: Scope): boolean {
  return GRANTS[has].includes(needs);
}
