/** Upstream: apiserver/pkg/endpoints/filters/warning.go: all texts up to so many runes; beyond, each is cut. */
export const warningRunes = 4096;
const cutRunes = 256;
/** Of a longer text the rest makes no difference: it is cut. */
export const longestWarning = 2 * (warningRunes + 1);

/** What a text takes of them, at least: after more than all, none is sent. */
export function leastRunes(text: string): number {
  return Math.min(Math.ceil(text.length / 2), cutRunes);
}

/** The values of the `Warning` headers of one response: `299 - "text"`, RFC 7234 5.5. */
export function warningHeaders(texts: readonly string[]): string[] {
  const total = texts.reduce((sum, text) => sum + runes(text), 0);
  let left = warningRunes;
  const out: string[] = [];
  for (const text of texts) {
    let kept = text;
    if (total > warningRunes) {
      if (runes(kept) > cutRunes) kept = [...kept].slice(0, cutRunes).join('');
      left -= runes(kept);
      if (left < 0) break;
    }
    out.push(`299 - "${quoted(kept)}"`);
  }
  return out;
}

function runes(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Header text: no control characters, quotes and backslashes escaped, bytes beyond ASCII as UTF-8 in latin1 so that Node sends them as they are. */
function quoted(text: string): string {
  const plain = text.replace(/[\u0000-\u001f\u007f]+/g, ' ').replace(/["\\]/g, '\\$&');
  return Buffer.from(plain, 'utf8').toString('latin1');
}
