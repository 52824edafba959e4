import { expect, test } from "vitest";
import { pagerCommand } from "./pager.ts";

const there = () => true;
const missing = () => false;

test("the pager is HOLDFAST_PAGER, then PAGER, then less", () => {
  expect(pagerCommand({ HOLDFAST_PAGER: "most -s", PAGER: "more" }, there)).toBe("most -s");
  expect(pagerCommand({ PAGER: "more" }, there)).toBe("more");
  expect(pagerCommand({}, there)).toBe("less");
});

test("an empty value and cat turn the pager off", () => {
  expect(pagerCommand({ HOLDFAST_PAGER: "", PAGER: "less" }, there)).toBeUndefined();
  expect(pagerCommand({ HOLDFAST_PAGER: "cat" }, there)).toBeUndefined();
  expect(pagerCommand({ PAGER: " " }, there)).toBeUndefined();
  expect(pagerCommand({ PAGER: "cat" }, there)).toBeUndefined();
});

test("there is no pager on a dumb terminal and inside a run, unless HOLDFAST_PAGER names one", () => {
  expect(pagerCommand({ TERM: "dumb", PAGER: "less" }, there)).toBeUndefined();
  expect(pagerCommand({ HOLDFAST_SESSION: "k3v7q2m4xa", PAGER: "less" }, there)).toBeUndefined();
  expect(pagerCommand({ HOLDFAST_SESSION: "k3v7q2m4xa", HOLDFAST_PAGER: "less" }, there)).toBe("less");
});

test("a pager that is not installed is not used", () => {
  expect(pagerCommand({}, missing)).toBeUndefined();
  expect(pagerCommand({ PAGER: "most" }, missing)).toBeUndefined();
  expect(pagerCommand({ PAGER: "LESS=-S less" }, missing)).toBe("LESS=-S less");
});
