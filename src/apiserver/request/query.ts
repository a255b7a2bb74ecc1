/**
 * The parameters of a query, without its question mark. As Go's net/url does, it drops a pair that has a malformed escape or a
 * semicolon. It is the only reader of queries: what authorization reads and what a handler reads are the same parameters.
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

/** The parameters of an empty query. */
export const noParameters = (): URLSearchParams => empty;
