import type { ControlReply } from "@holdfast/contract/terminal/attachments";
import type { Context, Flag } from "../command.ts";
import { oneName } from "../session/select.ts";
import { plain } from "../text/plain.ts";

export const TO: Flag = { value: "PRINCIPAL", summary: "the principal or terminal, as holdfast show names it", complete: "nothing" };

export async function act(context: Context, action: "request" | "give" | "take"): Promise<number> {
  const ref = oneName(context, `control ${action} NAME`);
  const to = action === "request" ? undefined : context.flags.text("to");
  const reply = await context.client.call("controlSession", { params: { ref }, body: { action, ...(to === undefined ? {} : { to }) } });
  process.stdout.write(`${context.json ? JSON.stringify(reply) : line(reply)}\n`);
  return 0;
}

function line({ session, driver, asked }: ControlReply): string {
  const name = plain(session.name);
  if (driver === null) return `${name}: nobody drives`;
  const where = driver.terminal === null ? "" : ` on ${driver.terminal}`;
  return `${name}: ${plain(driver.principal)}${asked ? ` drives${where} and has been asked` : ` drives${where}`}`;
}
