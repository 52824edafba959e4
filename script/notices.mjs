/** The licences of bundled packages; their terms require that we ship them. */
import fs from "node:fs";
import path from "node:path";
import { root } from "./root.mjs";

/** `inputs` are source files relative to the root, as the bundler reports them. */
export function notices(inputs) {
  const folders = new Set(inputs.flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []));
  const found = [...folders].map((folder) => {
    const manifest = JSON.parse(fs.readFileSync(path.join(root, folder, "package.json"), "utf8"));
    return { ...manifest, file: fileIn(path.join(root, folder)) };
  });
  const packages = found.map((one) => ({ ...one, text: licenceOf(one, found) }));
  packages.sort((a, b) => (a.name < b.name ? -1 : 1));
  const parts = packages.map(({ name, version, license, text }) => `## ${name} ${version} (${license})\n\n${text}`);
  return `# What is bundled in Holdfast\n\n${parts.join("\n\n")}\n`;
}

function fileIn(folder) {
  const name = fs.readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  return name && path.join(folder, name);
}

function licenceOf({ name, license, author, repository, file }, all) {
  // A package from a monorepo may leave the licence file to its siblings.
  const isTold = (other) => other.file && other.license === license && other.repository?.url === repository?.url;
  const told = file ?? (repository?.url && all.find(isTold)?.file);
  if (told) return fs.readFileSync(told, "utf8").trim();
  if (license !== "MIT") throw new Error(`${name} is bundled, but says nothing of its licence's terms`);
  // The same terms as ours, with another copyright holder.
  const terms = fs.readFileSync(path.join(root, "LICENSE"), "utf8").trim();
  return terms.replace(/^Copyright.*$/m, `Copyright (c) ${author?.name ?? author ?? `The authors of ${name}`}`);
}
