/** Validators of a document. */
export interface Validators {
  /** ETag without quotes. */
  readonly etag: string;
  /** Modification time as an HTTP date. */
  readonly modified: string;
}

/** Result of the preconditions of a GET: send the document, respond with 304, or with 412. */
export type Precondition = 'send' | 'not modified' | 'failed';

/**
 * Evaluates preconditions such as If-Match: RFC 9110, 13.2.2, like Go's net/http/fs.go (checkPreconditions). `header` returns a
 * header's value by its name in lower case.
 */
export function precondition(header: (name: string) => string | undefined, { etag, modified }: Validators): Precondition {
  const made = Date.parse(modified);
  const match = header('if-match');
  if (match) {
    if (!entityTags(match).some((tag) => tag === '*' || tag === `"${etag}"`)) return 'failed';
  } else {
    const time = parseHttpDate(header('if-unmodified-since'));
    if (time !== undefined && made > time) return 'failed';
  }
  const noneMatch = header('if-none-match');
  if (noneMatch)
    return entityTags(noneMatch).some((tag) => tag === '*' || tag.replace(/^W\//, '') === `"${etag}"`) ? 'not modified' : 'send';
  const time = parseHttpDate(header('if-modified-since'));
  return time !== undefined && made <= time ? 'not modified' : 'send';
}

const nextTag = /[\s,]*(\*|(?:W\/)?"[\x21\x23-\x7e\x80-\uffff]*")/gy;

/** Returns the entity tags of a list, with quotes, up to the first malformed one: RFC 9110, 8.8.3. Text after `*` is ignored. */
function entityTags(list: string): string[] {
  return [...list.matchAll(nextTag)].map(([, tag = '']) => tag);
}

const fixedDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const obsoleteDate = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** Parses an HTTP date in one of its three forms (RFC 9110, 5.6.7) to milliseconds since 1970; undefined if it is malformed. */
export function parseHttpDate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const isDate = fixedDate.test(text) || obsoleteDate.test(text);
  if (!isDate && !asctimeDate.test(text)) return undefined;
  const time = Date.parse(isDate ? text : `${text} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
