/**
 * Generates openapi.json and docs/ERRORS.md from the contract, docs/reference/sdk.md from the SDK, and docs/DAMAGE.md from its tests.
 * With --check it only compares, and fails if a committed file differs.
 */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { configurationPage } from "./configuration-page.mjs";
import { damagePage } from "./damage.mjs";
import { root, say } from "./root.mjs";
import { run } from "./run.mjs";
import { ensure, node } from "./setup.mjs";

/** The width of a line in openapi.json. */
const LINE = 140;

await ensure();
// The contract is TypeScript, which only a newer Node reads as it is.
if (Number.parseInt(process.versions.node, 10) < 24)
  process.exitCode = await run(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
else await main(process.argv.includes("--check"));

async function main(checking) {
  const { openapi } = await import("../packages/contract/src/openapi.ts");
  const { ERRORS } = await import("../packages/contract/src/errors.ts");
  settle("openapi.json", `${printed(openapi())}\n`, checking);
  settle("docs/ERRORS.md", errorsPage(ERRORS), checking);
  settle("docs/DAMAGE.md", damagePage(), checking);
  const { LISTS, PROJECT_KEYS, settingsOf, USER_KEYS } = await import("../packages/daemon/src/configuration-schema.ts");
  const page = configurationPage({ user: settingsOf(USER_KEYS), project: settingsOf(PROJECT_KEYS), lists: LISTS });
  settle("docs/reference/configuration.md", page, checking);
  const { surfaceOf } = await import("./sdk-surface.mjs");
  const { referencePage } = await import("./sdk-text.mjs");
  settle("docs/reference/sdk.md", referencePage(...surfaceOf(["packages/sdk/src/index.ts"])), checking);
}

/** JSON with each object or list on one line if it fits: short to read and to diff. */
function printed(value, indent = "", before = 0) {
  const line = JSON.stringify(value);
  if (typeof value !== "object" || value === null || indent.length + before + line.length <= LINE) return line;
  const inner = `${indent} `;
  const entries = Array.isArray(value)
    ? value.map((each) => inner + printed(each, inner))
    : Object.entries(value).map(([key, each]) => {
        const name = `${JSON.stringify(key)}: `;
        return inner + name + printed(each, inner, name.length);
      });
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${entries.join(",\n")}\n${indent}${close}`;
}

function settle(name, wanted, checking) {
  const file = path.join(root, name);
  const present = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : undefined;
  if (present === wanted) return;
  if (!checking) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, wanted);
    say(`wrote ${name}`);
    return;
  }
  say(`${name} differs from the source; run: npm run openapi`);
  process.exitCode = 1;
}

function errorsPage(errors) {
  const rows = Object.entries(errors).map(([code, { http, exit, what }]) => `| \`${code}\` | ${exit} | ${http} | ${what} |`);
  return `# Errors

Generated from the contract by \`npm run openapi\`.

Every error has a code, a message that says what happened and, if possible, a hint with the next step. Exit codes are stable, so scripts may
depend on them. With \`--json\` a command prints \`{"error": {"code", "message", "hint", "candidates"}}\` on standard error. Over HTTP the same
object is the body of the reply.

| code | exit code | HTTP status | when |
|---|---|---|---|
${rows.join("\n")}
`;
}
