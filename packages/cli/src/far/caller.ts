import { HoldfastError } from "@holdfast/contract/errors";
import { VERSION } from "@holdfast/contract/version";

/** On the remote machine: adds both versions to an error, because a caller of another version may use unknown options. */
export function withCaller(error: HoldfastError, caller: string | undefined): HoldfastError {
  if (caller === undefined || caller === VERSION) return error;
  const versions = `this is holdfast ${VERSION} on the remote machine, called by holdfast ${caller}`;
  return new HoldfastError(error.code, error.message, {
    hint: error.hint === undefined ? versions : `${error.hint}; ${versions}`,
    ...(error.candidates ? { candidates: error.candidates } : {}),
    cause: error,
  });
}
