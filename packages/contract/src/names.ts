import { HoldfastError } from "./errors.ts";

export const NAME_LIMIT = 64;

/** Characters that stay readable in a table, a shell and a URL: letters and digits of any script, then also `. _ -`. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*$/u;

/** Returns the name in Unicode NFC, or throws `invalid_name` with the reason. */
export function checkName(input: string): string {
  const name = input.normalize("NFC");
  if (name === "") throw refuse("a name cannot be empty");
  if ([...name].length > NAME_LIMIT) throw refuse(`a name has at most ${NAME_LIMIT} characters, this one has ${[...name].length}`);
  if (/\p{C}/u.test(name)) throw refuse("a name cannot contain control or invisible characters");
  if (!NAME.test(name)) throw refuse(`the name ${JSON.stringify(name)} is not allowed`);
  return name;
}

function refuse(what: string): HoldfastError {
  return new HoldfastError("invalid_name", what, {
    hint: "begin with a letter or digit, then letters, digits, '.', '_' or '-'; for example: fix-login",
  });
}
