import { parseEncodedText, rawInteger } from '#apimachinery/runtime/json/json';
import { JsonText } from '#apimachinery/validation/field';

/**
 * Formats a bad value that upstream prints as a struct: the fields in the given order, an absent one as null. Messages show internal types,
 * whose fields have Go names: `structValue({ Type: 'X', RollingUpdate: null })`.
 */
export function structValue(fields: Readonly<Record<string, unknown>> | readonly unknown[]): JsonText {
  const json = JSON.stringify(fields, (_key, value: unknown) =>
    value instanceof JsonText ? parseEncodedText(value.text) : value === undefined ? null : rawInteger(value),
  );
  return new JsonText(json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`));
}
