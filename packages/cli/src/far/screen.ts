/** On the remote machine of `holdfast -H`: marks outputs that are pipes here but terminals on the local machine, as HOLDFAST_SCREEN says. */
export function takeScreen(screen: string): void {
  const [, columns, rows, names = ""] = /^(\d+)x(\d+):([a-z,]+)$/.exec(screen) ?? [];
  for (const [name, stream] of [
    ["out", process.stdout],
    ["err", process.stderr],
  ] as const) {
    if (stream.isTTY || !names.split(",").includes(name)) continue;
    Object.assign(stream, { isTTY: true, columns: Number(columns), rows: Number(rows) });
  }
}
