/** Replies in JSON, including errors: `{"error": {...}}`, as described in openapi.json. */
import { type HoldfastError, VERSION } from "@holdfast/contract";

export function json(status: number, value: unknown): Response {
  const body = JSON.stringify(value);
  return new Response(body, {
    status,
    headers: {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      "cache-control": "no-store",
      "holdfast-version": VERSION,
    },
  });
}

export function failure(error: HoldfastError): Response {
  return json(error.httpStatus, { error: error.toBody() });
}
