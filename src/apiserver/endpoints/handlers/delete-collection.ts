import { Injectable, UseInterceptors } from '@nestjs/common';
import { isNotFound } from '#apimachinery/api/errors';
import { turnOfOthers } from '#apimachinery/runtime/steps';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import type { RequestContext } from '#apiserver/request/request-context';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import { readDeleteOptions } from './delete-options.ts';
import { negotiate } from './negotiation.ts';
import { parseListOptions } from './query-options.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';
import { respondList } from './list.ts';
import { storedSelectionOf } from './selection.ts';
import { refuseUnsafeDeletion } from './unsafe-deletion.ts';
import { newDeleteRequest } from './write-request.ts';

/**
 * DELETE of a collection. Deletes each listed object like a single deletion; objects deleted meanwhile are no error. Upstream:
 * Store.DeleteCollection.
 */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class DeleteCollectionHandler {
  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const listOptions = parseListOptions(context.searchParams);
    const { store } = endpoint;
    const predicate = await storedSelectionOf(endpoint, listOptions, '');
    const options = await readDeleteOptions(context, endpoint);
    refuseUnsafeDeletion(options);
    for (const text of endpoint.definition.strategy.warningsOnDelete?.(options) ?? []) context.warn(text);
    const { namespace } = context.info;
    const { resourceVersion, resourceVersionMatch, limit } = listOptions;
    // Upstream lists in pages, and a page of a revision is of that revision exactly.
    const isExact = limit === 0 && resourceVersion !== '' && resourceVersion !== '0' && resourceVersionMatch === '';
    const list = await store.cacher.list({
      scope: store.selectedScope(namespace, predicate, listOptions.continue !== ''),
      resourceVersion,
      resourceVersionMatch: isExact ? 'Exact' : resourceVersionMatch,
      limit,
      continue: listOptions.continue,
      predicate,
    });
    const objects = list.chunks.flatMap(({ items }) => items);
    const remove = async ({ key }: CachedObject): Promise<void> => {
      const request = newDeleteRequest(context, endpoint, options);
      try {
        await store.delete(request, store.placeOf(key).name, { ...options });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    };
    await eachInTurns(objects, remove);
    await respondList(context, endpoint, list, negotiated, predicate);
  }
}

/** Number of deletions that start before yielding to the event loop; each parses, copies and validates an object. */
const beginsPerTurn = 32;

/**
 * Starts all operations concurrently, so that the store can batch their writes. Rejects with the first error and starts no others
 * after it.
 */
async function eachInTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const begun: Promise<void>[] = [];
  let hasFailed = false;
  const noteFailure = (): void => {
    hasFailed = true;
  };
  for (const [i, item] of items.entries()) {
    if (hasFailed) break;
    const end = work(item);
    end.catch(noteFailure);
    begun.push(end);
    if ((i + 1) % beginsPerTurn === 0) await turnOfOthers();
  }
  await Promise.all(begun);
}
