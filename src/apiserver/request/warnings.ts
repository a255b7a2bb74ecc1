/** Upstream: apiserver/pkg/endpoints/filters/warning.go: all texts up to so many runes; beyond, each is cut. */
export const warningRunes = 4096;
const cutRunes = 256;
/** Of a longer text the rest makes no difference: it is cut. */
export const longestWarning = 2 * (warningRunes + 1);

/** What a text takes of them, at least: after more than all, none is sent. */
export function leastRunes(text: string): number {
  return Math.min(Math.ceil(text.length / 2), cutRunes);
}

/** A text that is not sent: control characters have no place in a header. */
export function isUnsendable(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/**
 * The values of the `Warning` headers of one response: `299 - "text"`, RFC 7234 5.5. The text that crosses the limit makes all of them be cut, and
 * no more are added once what has been sent has reached it.
 */
export function warningHeaders(texts: readonly string[]): string[] {
  const whole = texts.filter((text) => !isUnsendable(text));
  const total = whole.reduce((sum, text) => sum + runes(text), 0);
  return total > warningRunes ? cutHeaders(texts) : whole.map(header);
}

function cutHeaders(texts: readonly string[]): string[] {
  const out: string[] = [];
  let whole = 0;
  let sent = 0;
  for (const text of texts) {
    if (whole > warningRunes && sent >= warningRunes) break;
    if (!isUnsendable(text)) whole += runes(text);
    const cut = cutText(text);
    if (isUnsendable(cut)) continue;
    sent += runes(cut);
    out.push(header(cut));
  }
  return out;
}

/** The beginning of a text that is sent where not all texts fit. */
export function cutText(text: string): string {
  return text.length > cutRunes ? [...text.slice(0, 2 * cutRunes)].slice(0, cutRunes).join('') : text;
}

function header(text: string): string {
  return `299 - "${quoted(text)}"`;
}

function runes(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Header text: quotes and backslashes escaped, bytes beyond ASCII as UTF-8 in latin1 so that Node sends them as they are. */
function quoted(text: string): string {
  return Buffer.from(text.replace(/["\\]/g, '\\$&'), 'utf8').toString('latin1');
}
