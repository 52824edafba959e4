/**
 * Makes the same change in many repositories, a few at a time. Each agent works in its own git worktree, so no checkout is touched.
 * Review and merge the result: holdfast workspace diff NAME, holdfast workspace merge NAME.
 *
 *   AGENT=claude node fan-out.ts 'update the licence header to 2026' ~/src/api ~/src/web ~/src/docs
 */
import assert from "node:assert/strict";
import { basename } from "node:path";
import { BudgetExceeded, connect, HoldfastError } from "holdfast/sdk";

const AT_ONCE = 3;

const [prompt = "", ...repositories] = process.argv.slice(2);
assert.ok(prompt !== "" && repositories.length > 0, "say what to do, and in which repositories");
const agent = process.env.AGENT ?? "claude";

using holdfast = await connect();

async function change(repository: string) {
  try {
    const { files, cost } = await holdfast.query({
      agent,
      prompt,
      cwd: repository,
      worktree: {},
      name: `fan-out-${basename(repository)}`,
      budget: { minutes: 30, cost: 2 },
      onApproval: ({ tool }) => (tool === "Bash" ? "deny" : "allow"),
    }).result;
    return { repository, files, cost, error: null };
  } catch (error) {
    // A repository that fails does not stop the others.
    if (!(error instanceof HoldfastError)) throw error;
    return { repository, files: [], cost: null, error: error instanceof BudgetExceeded ? "over budget" : error.message };
  }
}

const waiting = [...repositories];
const results: Awaited<ReturnType<typeof change>>[] = [];
const worker = async () => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results.push(await change(next));
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));

for (const { repository, files, cost, error } of results)
  console.log(`${basename(repository)}: ${error ?? `${files.length} files (${files.join(", ")})`}${cost === null ? "" : `, $${cost}`}`);

// Each agent was asked once, and each change has a workspace.
assert.deepEqual(results.map(({ repository }) => repository).sort(), [...repositories].sort());
const { workspaces } = await holdfast.client.call("listWorkspaces", {});
for (const { repository, files } of results)
  if (files.length > 0) assert.ok(workspaces.some(({ name }) => name === `fan-out-${basename(repository)}`));
