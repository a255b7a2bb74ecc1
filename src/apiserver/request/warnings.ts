/**
 * Maximum total length of warning texts in runes; beyond it, each text is truncated. Upstream:
 * apiserver/pkg/endpoints/filters/warning.go.
 */
export const warningRunes = 4096;
const cutRunes = 256;
/** Length to which a text may be cut when it is recorded: the rest has no effect on the headers. */
export const longestWarning = 2 * (warningRunes + 1);

/** Returns a lower bound of a text's rune count. Texts beyond the total limit are not sent. */
export function leastRunes(text: string): number {
  return Math.min(Math.ceil(text.length / 2), cutRunes);
}

/** True if a text is not sent because control characters are invalid in a header. */
export function isUnsendable(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/**
 * Returns the values of the `Warning` headers of one response: `299 - "text"`, RFC 7234 5.5. If a text crosses the limit, all texts
 * are truncated, and texts are added only until the total reaches the limit.
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

/** Returns the prefix of a text that is sent if not all texts fit. */
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

/** Returns header text: quotes and backslashes escaped, non-ASCII characters as UTF-8 bytes in latin1, which Node sends unchanged. */
function quoted(text: string): string {
  return Buffer.from(text.replace(/["\\]/g, '\\$&'), 'utf8').toString('latin1');
}
