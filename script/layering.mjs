/**
 * Checks imports between packages, folders and rooms, then checks the check: each violation planted in a copy of the layout must fail, and clean
 * files must pass. A run that read no module fails. Needs the Node of the checkout.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import visitor from "@swc/core/Visitor.js";
import { cruise } from "dependency-cruiser";
import { FOLDERS, rules } from "./layers.mjs";
import { root } from "./root.mjs";

teachUsing(visitor.Visitor.prototype);
const problems = [...(await checkSource()), ...(await checkCanaries())];
for (const problem of problems) console.log(problem);
if (problems.length > 0) process.exitCode = 1;

async function checkSource() {
  const { modules, summary } = await cruiseIn(root);
  if (modules.length === 0) return ["no module was read: the layering check would pass in silence"];
  const imports = modules.reduce((count, module) => count + module.dependencies.length, 0);
  if (imports === 0) return ["no import was read: the layering check would pass in silence"];
  return summary.violations.map(({ from, to, rule, cycle }) => {
    const round = cycle ? `: ${cycle.map(({ name }) => name).join(" → ")}` : "";
    return `${from} may not import ${to} (${rule.name}${round})`;
  });
}

async function checkCanaries() {
  const planted = JSON.parse(fs.readFileSync(path.join(root, "tests/canaries/planted.json"), "utf8"));
  const copy = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "holdfast-canaries-"));
  try {
    plant(copy, planted);
    const { summary } = await cruiseIn(copy);
    const unused = rules.map(({ name }) => name).filter((name) => !planted.some(({ rule }) => rule === name));
    return [
      ...planted.flatMap((canary) => verdict(canary, summary.violations)),
      ...unused.map((name) => `rule ${name} has no planted violation in tests/canaries`),
    ];
  } finally {
    fs.rmSync(copy, { recursive: true });
  }
}

function verdict({ rule, file }, violations) {
  // A cycle is reported once, for one of its files.
  const isIn = ({ from, cycle = [] }) => from === file || cycle.some(({ name }) => name === file);
  const fired = violations.filter(isIn).map((violation) => violation.rule.name);
  if (rule === null) return fired.length === 0 ? [] : [`canary ${file} is clean and was called ${fired.join(", ")}`];
  return fired.includes(rule) ? [] : [`canary ${file} did not turn ${rule} red (${fired.join(", ") || "nothing fired"})`];
}

function plant(copy, planted) {
  const installed = path.join(root, "node_modules");
  for (const name of ["hono", "@hono", "ws", "zod", "vitest"]) link(path.join(installed, name), path.join(copy, "node_modules", name));
  for (const folder of fs.readdirSync(path.join(root, "packages"))) {
    const manifest = path.join(root, "packages", folder, "package.json");
    if (fs.existsSync(manifest)) write(path.join(copy, "packages", folder, "package.json"), fs.readFileSync(manifest));
    link(path.join(copy, "packages", folder), path.join(copy, "node_modules/@holdfast", folder));
  }
  write(path.join(copy, "package.json"), fs.readFileSync(path.join(root, "package.json")));
  for (const { file, code } of planted)
    for (const target of targetsOf(file, code)) write(path.join(copy, target), "export const x = 1;\nexport const y = 1;\n");
  for (const { file, code } of planted) write(path.join(copy, file), `${code}\n`);
}

/** The files that canaries import, by relative path or package name; `nowhere` does not exist. */
function targetsOf(file, code) {
  const specifiers = [...code.matchAll(/'([^']+)'/g)].map(([, specifier]) => specifier);
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith(".")) return specifier.includes("nowhere") ? [] : [path.join(path.dirname(file), specifier)];
    const [, name, inside = "index"] = /^@holdfast\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? [];
    return name === undefined ? [] : [`packages/${name}/src/${inside}.ts`];
  });
}

async function cruiseIn(baseDir) {
  const folders = ["packages", ...Object.keys(FOLDERS)].filter((folder) => fs.existsSync(path.join(baseDir, folder)));
  const { output } = await cruise(
    folders,
    {
      baseDir,
      ruleSet: { forbidden: rules },
      validate: true,
      // dependency-cruiser cannot use TypeScript 7 and silently reads nothing unless swc parses.
      parser: "swc",
      doNotFollow: { path: "node_modules" },
      // swc reads declarations as code and throws.
      exclude: { path: "\\.d\\.mts$" },
    },
    {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
      extensions: [".ts", ".js", ".mjs", ".json"],
      symlinks: true,
    },
  );
  return output;
}

/** swc parses `using x = …`, but dependency-cruiser's visitor does not know that statement and throws. */
function teachUsing(prototype) {
  const { visitStatement } = prototype;
  prototype.visitStatement = function (statement) {
    if (statement.type !== "UsingDeclaration") return visitStatement.call(this, statement);
    statement.decls = this.visitVariableDeclarators(statement.decls);
    return statement;
  };
}

function write(file, content) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
}

function link(target, place) {
  fs.mkdirSync(path.dirname(place), { recursive: true });
  fs.symlinkSync(target, place);
}
