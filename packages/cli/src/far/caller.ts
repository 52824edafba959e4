import { HoldfastError } from "@holdfast/contract/errors";
import { VERSION } from "@holdfast/contract/version";

/** At the far end: who calls with another version may mean what this one does not have. */
export function withCaller(error: HoldfastError, caller: string | undefined): HoldfastError {
  if (caller === undefined || caller === VERSION) return error;
  const versions = `this is holdfast ${VERSION} on the remote machine, called by holdfast ${caller}`;
  return new HoldfastError(error.code, error.message, {
    hint: error.hint === undefined ? versions : `${error.hint}; ${versions}`,
    ...(error.candidates ? { candidates: error.candidates } : {}),
    cause: error,
  });
}
