/** Classes of characters in YAML 1.1, by their UTF-16 code unit; the code of an index past the end is NaN. Upstream: yamlprivateh.go. */

export const tab = 0x09;
export const lineFeed = 0x0a;
export const carriageReturn = 0x0d;
export const space = 0x20;

/** True past the end of the text. */
export function isEnd(code: number): boolean {
  return Number.isNaN(code);
}

export function isBreak(code: number): boolean {
  return code === lineFeed || code === carriageReturn || code === 0x85 || code === 0x2028 || code === 0x2029;
}

export function isBlank(code: number): boolean {
  return code === space || code === tab;
}

export function isBreakOrEnd(code: number): boolean {
  return isBreak(code) || isEnd(code);
}

export function isBlankOrEnd(code: number): boolean {
  return isBlank(code) || isBreak(code) || isEnd(code);
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

export function isAlphanumeric(code: number): boolean {
  return isDigit(code) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f || code === 0x2d;
}

function codesOf(characters: string): ReadonlySet<number> {
  return new Set(Array.from(characters, (character) => character.charCodeAt(0)));
}

/** Characters that end a plain scalar within brackets. */
export const flowIndicators = codesOf(',?[]{}');
/** Characters that cannot start a plain scalar, apart from the exceptions for `-`, `?` and `:`. */
export const indicators = codesOf('-?:,[]{}#&*!|>\'"%@`');
export const uriCharacters = codesOf(";/?:@&=+$,.!~*'()[]%");
export const behindAnchor = codesOf('?:,]}%@`');
