/**
 * Parses a query without its question mark. Like Go's net/url, it drops pairs with a malformed escape or a semicolon. All readers
 * of queries use it, so that authorization and handlers see the same parameters.
 */
export function parseQuery(query: string): URLSearchParams {
  const isMalformed = (text: string): boolean => /%(?![0-9a-f]{2})|;/i.test(text);
  return new URLSearchParams(
    isMalformed(query)
      ? query
          .split('&')
          .filter((pair) => !isMalformed(pair))
          .join('&')
      : query,
  );
}

const empty = new URLSearchParams();

/** Returns the parameters of an empty query. */
export const noParameters = (): URLSearchParams => empty;
