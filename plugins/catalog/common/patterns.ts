/** True if a text matches a pattern. */
export type Matcher = (text: string) => boolean;

/**
 * Returns a matcher of patterns in which `*` stands for any text:
 *
 *     matcherOf(['ghcr.io/acme/*', 'docker.io/library/nginx'])('ghcr.io/acme/web')   ->   true
 */
export function matcherOf(patterns: readonly string[]): Matcher {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const forms = patterns.filter((pattern) => pattern.includes('*')).map((pattern) => pattern.split('*'));
  return (text) => exact.has(text) || forms.some((pieces) => hasPieces(text, pieces));
}

/** True if a text begins with the first piece, ends with the last, and has the others in between, in order. */
function hasPieces(text: string, pieces: readonly string[]): boolean {
  const first = pieces[0] as string;
  const last = pieces.at(-1) as string;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

/** Formats a list for a message: `"a", "b"`. */
export function quoted(items: Iterable<string>): string {
  return Array.from(items, (item) => `"${item}"`).join(', ');
}
