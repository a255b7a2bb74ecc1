const digits = /^\d+$/;

/**
 * Parses the value of a Content-Length field: `1*DIGIT`, without sign, list or other base. Returns undefined if the value is
 * malformed or exceeds Number.MAX_SAFE_INTEGER. RFC 9110, 8.6.
 */
export function parseContentLength(value: string): number | undefined {
  if (!digits.test(value)) return undefined;
  const length = Number(value);
  return Number.isSafeInteger(length) ? length : undefined;
}
