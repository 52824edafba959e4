/** What a key of config.toml is: the reference page, `holdfast config` and every check of the file read the same declaration. */
export interface Setting {
  /** One or two sentences for people. */
  about: string;
  /** The values, in words: `a duration, or "off"`. */
  takes: string;
  /** The default, as TOML; null: it is not set. */
  usual: string | null;
  /** A whole line of TOML, or several. */
  example: string;
}

/** The keys of a table and, below them, of its tables; EACH stands for names that a person chooses. */
export interface KnownKeys {
  [key: string]: KnownKeys | Setting;
}

export const EACH = "*";

export function isSetting(known: KnownKeys | Setting): known is Setting {
  return typeof known.about === "string";
}
