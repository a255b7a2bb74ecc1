/** What a client has of a document, by its tag and when it was made. */
export interface Validators {
  /** Without its quotes. */
  readonly etag: string;
  /** An HTTP date. */
  readonly modified: string;
}

/** What the conditions of a GET say: it is answered with the document, with 304, or with 412. */
export type Precondition = 'send' | 'not modified' | 'failed';

/** Evaluates If-Match and the like: RFC 9110, 13.2.2, as Go's net/http/fs.go (checkPreconditions) does. `header`: a header's value by its name in lower case. */
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

/** The entity tags of a list, with their quotes, up to the first that is none: RFC 9110, 8.8.3. What stands behind `*` counts for nothing. */
function entityTags(list: string): string[] {
  return [...list.matchAll(nextTag)].map(([, tag = '']) => tag);
}

const fixedDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const obsoleteDate = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** Milliseconds since 1970 of an HTTP date in one of its three forms (RFC 9110, 5.6.7); undefined for what is none. */
export function parseHttpDate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const isDate = fixedDate.test(text) || obsoleteDate.test(text);
  if (!isDate && !asctimeDate.test(text)) return undefined;
  const time = Date.parse(isDate ? text : `${text} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
