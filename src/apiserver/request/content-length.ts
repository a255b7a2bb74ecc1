const digits = /^\d+$/;

/**
 * Parses the only value of a Content-Length field: `1*DIGIT`, without sign, list or other base. Returns undefined if the value is malformed, or
 * larger than numbers are exact. RFC 9110, 8.6.
 */
export function parseContentLength(value: string): number | undefined {
  if (!digits.test(value)) return undefined;
  const length = Number(value);
  return Number.isSafeInteger(length) ? length : undefined;
}
