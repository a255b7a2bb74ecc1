/** Parameters of a list from the cache, and its pages. */
import { newBadRequest, newResourceExpired, type StatusError } from '#apimachinery/api/errors';
import { needsSteps, type Steps } from '#apimachinery/runtime/steps';
import type { Revision } from '../storage.ts';
import type { CachedObject } from './cached-object.ts';
import { type ContinuePoint, decodeContinue, encodeContinue } from './continue-token.ts';
import { Leaf, leavesOf, type ListChunk } from './object-tree.ts';
import { everything, type Predicate } from './predicate.ts';
import { parseResourceVersion } from './resource-version.ts';

export interface CacheListOptions {
  /** A prefix (`/pods/default/`) or a single key, under the cacher's prefix. */
  readonly scope: string;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: string | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly predicate?: Predicate | undefined;
}

export interface CacheList {
  readonly chunks: readonly ListChunk[];
  /** Number of objects in the chunks. */
  readonly count: number;
  readonly revision: Revision;
  /** Token of the next page; '' on the last page. */
  readonly continueToken: string;
  /** Set only for lists without label and field selectors. */
  readonly remainingItemCount: number | undefined;
}

/** Number of objects between yields; small ones parse within a few milliseconds. */
const objectsPerStep = 32;
/** Maximum size of a chunk of selected objects: each client that reads slowly holds the encoding of one. */
const selectedLeafBytes = 128 * 1024;

const inconsistentContinue =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
  'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided ' +
  'token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned ' +
  'and now may show up in the list.';

export interface ListQuery {
  readonly scope: string;
  readonly isPrefix: boolean;
  /** Page size; 0: unlimited. */
  readonly limit: number;
  readonly predicate: Predicate;
  readonly from: string;
  readonly isContinued: boolean;
  readonly at: 'newest' | 'atLeast' | 'exact';
  readonly revision: Revision;
}

/** Determines the requested state and the first key. Throws BadRequest. */
export function parseListQuery(options: CacheListOptions): ListQuery {
  const { scope, resourceVersion: text = '', resourceVersionMatch: match = '', continue: token = '', predicate = everything } = options;
  const isPrefix = scope.endsWith('/');
  const limit = text === '0' ? 0 : Math.max(0, options.limit ?? 0);
  const query = { scope, isPrefix, limit, predicate, from: scope, isContinued: false };
  if (isPrefix && token !== '') {
    const { from, revision } = parseContinue(token, scope);
    if (text !== '' && text !== '0') throw newBadRequest('specifying resource version is not allowed when using continue');
    return { ...query, from, isContinued: true, at: revision > 0 ? 'exact' : 'newest', revision: Math.max(0, revision) };
  }
  const revision = parseListVersion(text);
  if (match === 'Exact') return { ...query, at: 'exact', revision };
  if (match === '' && text === '') return { ...query, at: 'newest', revision: 0 };
  if (match === '' && isPrefix && limit > 0 && revision > 0) return { ...query, at: 'exact', revision };
  return { ...query, at: 'atLeast', revision };
}

function parseContinue(token: string, scope: string): ContinuePoint {
  try {
    return decodeContinue(token, scope);
  } catch (error) {
    throw newBadRequest(`invalid continue token: ${(error as Error).message}`);
  }
}

/** Parses the resourceVersion of a list or of a read from the storage. Throws BadRequest. */
export function parseListVersion(text: string): Revision {
  try {
    return parseResourceVersion(text);
  } catch (error) {
    throw newBadRequest(`invalid resource version: ${(error as Error).message}`);
  }
}

/** Returns a 410 with a token that continues the list at the newest revision. */
export function expiredContinue({ from, scope }: ListQuery): StatusError {
  const error = newResourceExpired(inconsistentContinue);
  error.status.metadata.continue = encodeContinue(from, scope, -1);
  return error;
}

export function singleList(object: CachedObject | undefined, revision: Revision): CacheList {
  const chunks = object ? [new Leaf(undefined, [object])] : [];
  return { chunks, count: chunks.length, revision, continueToken: '', remainingItemCount: undefined };
}

/**
 * Returns the matching objects up to the limit. More pages follow if any object, matching or not, comes after the last one
 * returned.
 */
export function* selectedList(
  chunks: readonly ListChunk[],
  total: number,
  { predicate, limit, scope }: ListQuery,
  revision: Revision,
): Steps<CacheList> {
  const items: CachedObject[] = [];
  let seen = 0;
  scan: for (const chunk of chunks) {
    for (const object of chunk.items) {
      seen++;
      if (predicate.matches(object)) items.push(object);
      if (limit > 0 && items.length >= limit) break scan;
      // Parsed objects cost nothing; the text of a large object is scanned.
      if (seen % objectsPerStep === 0 || needsSteps(object.size)) yield;
    }
  }
  const page = leavesOf(items, { mostBytes: selectedLeafBytes });
  const hasMore = seen < total;
  const continueToken = hasMore ? tokenAfter(page, scope, revision) : '';
  const remainingItemCount = hasMore && predicate.countsRemaining ? total - limit : undefined;
  return { chunks: page, count: items.length, revision, continueToken, remainingItemCount };
}

export function firstOf(chunks: readonly Leaf[], limit: number): ListChunk[] {
  const page: ListChunk[] = [];
  let left = limit;
  for (const chunk of chunks) {
    if (left === 0) break;
    const count = Math.min(left, chunk.items.length);
    page.push(chunk.part(0, count));
    left -= count;
  }
  return page;
}

export function tokenAfter(page: readonly ListChunk[], scope: string, revision: Revision): string {
  return encodeContinue(`${page.at(-1)!.items.at(-1)!.key}\0`, scope, revision);
}
