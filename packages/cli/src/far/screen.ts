/** At the far end of `holdfast -H`: these outputs are pipes, which end on terminals. Set by the near end in HOLDFAST_SCREEN. */
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
