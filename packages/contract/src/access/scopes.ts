/** The rights of a principal. No schema library here: the CLI completes these words. */
export const SCOPES = ["owner", "driver", "approver", "observer"] as const;

export type Scope = (typeof SCOPES)[number];

/** An owner may do everything; drivers and approvers may also observe. */
const GRANTS: Readonly<Record<Scope, readonly Scope[]>> = {
  owner: SCOPES,
  driver: ["driver", "observer"],
  approver: ["approver", "observer"],
  observer: ["observer"],
};

/** True if the scope `has` includes the scope `needs`. */
export function grants(has: Scope, needs: Scope): boolean {
  return GRANTS[has].includes(needs);
}
