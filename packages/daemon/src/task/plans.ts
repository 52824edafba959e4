/** The declarations of plan files, as reported by `apply`: the daemon stores them and does not act on them. */
import { type Declaration, HoldfastError, type NewDeclaration, type Principal, type Undeclared } from "@holdfast/contract";
import type { Journal } from "../journal/journal.ts";
import type { PlanQueries } from "../projection/plans.ts";

export class Plans {
  readonly #journal: Journal;
  readonly #queries: PlanQueries;

  constructor({ journal, queries }: { journal: Journal; queries: PlanQueries }) {
    this.#journal = journal;
    this.#queries = queries;
  }

  list(file: string): Declaration[] {
    return this.#queries.list(file);
  }

  /** Repeating a declaration adds no event. */
  declare(declaration: NewDeclaration, actor: Principal): Declaration {
    const known = this.#queries.get(declaration);
    if (known && isSame(known, declaration)) return known;
    this.#journal.append({ type: "plan.declared", actor, session: null, data: declaration });
    const declared = this.#queries.get(declaration);
    if (declared) return declared;
    throw new HoldfastError("session_not_found", `there is no session ${JSON.stringify(declaration.ref)}`);
  }

  forget(undeclared: Undeclared, actor: Principal): void {
    if (this.#queries.get(undeclared) === undefined) return;
    this.#journal.append({ type: "plan.forgotten", actor, session: null, data: undeclared });
  }
}

function isSame(one: NewDeclaration, other: NewDeclaration): boolean {
  const words = ({ name, said }: NewDeclaration) => JSON.stringify([name, Object.entries(said).sort()]);
  return words(one) === words(other);
}
