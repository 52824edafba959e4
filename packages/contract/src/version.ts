/** The one version of a Holdfast release: CLI, daemon and holders of one installation share it. */
export const VERSION = "0.1.0";

/** Node releases older than this lack node:sqlite without a flag and process.execve. */
export const MINIMUM_NODE = 24;

/** Negative if `a` is older than `b`. A pre-release (`1.2.0-rc.1`) is older than its release. */
export function compareVersions(a: string, b: string): number {
  const [aCore = "", aPre = ""] = splitPre(a);
  const [bCore = "", bPre = ""] = splitPre(b);
  const core = compareParts(aCore.split("."), bCore.split("."));
  if (core !== 0) return core;
  if (aPre === bPre) return 0;
  if (aPre === "") return 1;
  if (bPre === "") return -1;
  return compareParts(aPre.split("."), bPre.split("."));
}

function splitPre(version: string): [string, string] {
  const dash = version.indexOf("-");
  return dash < 0 ? [version, ""] : [version.slice(0, dash), version.slice(dash + 1)];
}

function compareParts(a: string[], b: string[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const x = a[i] ?? "";
    const y = b[i] ?? "";
    if (x === y) continue;
    const numeric = Number(x) - Number(y);
    return Number.isNaN(numeric) || numeric === 0 ? (x < y ? -1 : 1) : numeric;
  }
  return 0;
}
