/**
 * The files that `npm run coverage` measures: the code of conversations. Whole folders are listed, so that no new file is missed.
 * Exceptions are named with a reason.
 */
import fs from "node:fs";
import { root } from "./root.mjs";

/** The minimum percentage of lines that tests must run. */
export const ASKED = 95;

export const AREA = [
  "packages/contract/src/{conversation/*,usage/{usage,endpoints,spent},persona/*,task/*,agent/order}.ts",
  "packages/holder/src/{conversation,agents}/**/*.ts",
  "packages/daemon/src/{conversation,usage,persona,task}/**/*.ts",
  "packages/daemon/src/{projection/usage,record/transcript}.ts",
  "packages/cli/src/{repl,task,transcript,usage}/**/*.ts",
  "packages/cli/src/commands/{chat,transcript,cancel,usage,personas,task}.ts",
  "packages/cli/src/commands/{personas,task}/**/*.ts",
  "agents/src/acp/**/*.ts",
];

const OWN_PROCESS = "composition of a process of its own, which tests/ run as users have it";
const OTHER_WORK = "tournaments and apply, which tests/ run as users have them";
const TEST_SUPPORT = "what tests of the area are written with";

/** Files that are not measured, with the reason. */
export const NOT_MEASURED = {
  "packages/holder/src/conversation/main.ts": OWN_PROCESS,
  "packages/daemon/src/task/plans.ts": OTHER_WORK,
  "packages/daemon/src/task/tournaments.ts": OTHER_WORK,
  "packages/holder/src/agents/exec/main.ts": OWN_PROCESS,
  "packages/holder/src/agents/model/main.ts": OWN_PROCESS,
  "agents/src/acp/test-client.ts": TEST_SUPPORT,
};

/** Tests outside the area that run its code in their own process. */
const OTHER_TESTS = ["tests/drivers.test.ts", "tests/model-agent.test.ts"];

const isTest = (file) => file.endsWith(".test.ts");

export function areaFiles() {
  return all()
    .filter((file) => !isTest(file) && !(file in NOT_MEASURED))
    .sort();
}

/** Tests beside the code, and all others. */
export function areaTests() {
  const beside = areaFiles().map((file) => file.replace(/\.ts$/, ".test.ts"));
  const tests = new Set([...all().filter(isTest), ...beside.filter((file) => fs.existsSync(`${root}/${file}`)), ...OTHER_TESTS]);
  return [...tests].sort();
}

function all() {
  return AREA.flatMap((pattern) => fs.globSync(pattern, { cwd: root }));
}
