import type { Principal } from "@holdfast/contract";
import { expect, test } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { Journal } from "../journal/journal.ts";
import { PROJECTIONS } from "../projection/all.ts";
import { MessageQueries } from "../projection/messages.ts";
import { revokedMail } from "./revoked-mail.ts";

const ME = "user:tester" as Principal;

test("revoking a token fails its unread messages, and leaves read ones and those of others", () => {
  const db = openDatabase(":memory:");
  const journal = new Journal({ db, projections: PROJECTIONS, machineName: "box" });
  const messages = new MessageQueries(db);
  journal.followWith(revokedMail(messages));
  const tell = (id: string, to: string) =>
    journal.append({ type: "message.queued", actor: ME, session: null, data: { id, text: id, steer: false, to: to as Principal } });
  tell("read", "token:kim");
  journal.append({ type: "message.read", actor: "token:kim" as Principal, session: null, data: { id: "read" } });
  tell("unread", "token:kim");
  tell("another", "token:kimberly");
  journal.append({ type: "token.revoked", actor: ME, session: null, data: { id: "tk", name: "kim" } });
  expect(["read", "unread", "another"].map((id) => messages.get(id)?.state)).toEqual(["injected", "failed", "queued"]);
  expect(messages.get("unread")?.why).toBe("the token kim was revoked before it was read");
  expect(messages.countUnread({ person: "token:kim" as Principal })).toBe(0);
});
