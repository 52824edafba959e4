/** Parses JSON and reports a number that JavaScript would alter because it has too many digits. */
export function parseExactly(text: string): { value: unknown; altered: string | undefined } {
  let altered: string | undefined;
  const look = (_key: string, each: unknown, context?: { source?: string }) => {
    const written = context?.source;
    if (typeof each === "number" && written !== undefined && decimal(written) !== decimal(String(each))) altered ??= written;
    return each;
  };
  const value: unknown = JSON.parse(text, look);
  return { value, altered };
}

/** A canonical form of a number: its digits without surrounding zeros, and its exponent. */
function decimal(written: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = /^(-?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(written) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const bare = digits.replace(/0+$/, "");
  if (bare === "") return /^-?[\d.]/.test(written) ? "0" : written;
  return `${sign}${bare}e${Number(exponent) - fraction.length + digits.length - bare.length}`;
}
