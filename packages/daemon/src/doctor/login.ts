import { logoutEnds } from "@holdfast/platform";
import type { Check } from "./check.ts";

export async function loginEnd(): Promise<Check> {
  const { ends, what, remedy } = await logoutEnds();
  return { id: "login", level: ends === "nothing" ? "ok" : "warning", what, remedy };
}
