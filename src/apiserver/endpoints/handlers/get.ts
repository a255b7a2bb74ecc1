import { Injectable } from '@nestjs/common';
import { newBadRequest } from '#apimachinery/api/errors';
import { parseBoolean } from '#apiserver/request/list-options';
import type { RequestContext } from '#apiserver/request/request-context';
import type { RequestInfo } from '#apiserver/request/request-info';
import type { Store } from '#apiserver/registry/store';
import type { RequestSpan } from '#apiserver/request/request-span';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import { negotiate } from './negotiation.ts';
import { respondObject } from './object-responses.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';
import { respondBytes } from './responses.ts';
import { isPretty } from './negotiation.ts';

/** GET of one object, or of a subresource that returns its parent. Upstream: endpoints/handlers/get.go. */
@Injectable()
export class GetHandler {
  handle(context: RequestContext, endpoint: ResourceEndpoint): void | Promise<void> {
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const { namespace, name } = context.info;
    const resourceVersion = context.query === '' ? '' : readGetOptions(context.searchParams);
    const plain =
      !context.audit?.recordsResponse &&
      !context.span &&
      negotiated.mediaType === 'application/json' &&
      !negotiated.convert &&
      !endpoint.conversion &&
      !negotiated.pretty;
    const answer = (object: CachedObject): void | Promise<void> => {
      if (plain && !isPretty(context.query, context.header('user-agent')) && object.bytes.length <= 128 * 1024) {
        return respondBytes(context, 200, 'application/json', object.bytes);
      }
      return respondObject(context, endpoint, 200, object.bytes, negotiated);
    };
    const { span } = context;
    const found = span
      ? getWithin(span, endpoint.store, context.info, resourceVersion)
      : endpoint.store.get(namespace, name, resourceVersion);
    return found instanceof Promise ? found.then(answer) : answer(found);
  }
}

/**
 * Returns the resourceVersion of a GET. Throws BadRequest if the removed parameter `export` is set. Upstream:
 * endpoints/handlers/get.go (GetResource).
 */
function readGetOptions(parameters: URLSearchParams): string {
  if (parseBoolean(parameters.get('export'))) throw newBadRequest('the export parameter, deprecated since v1.14, is no longer supported');
  return parameters.get('resourceVersion') ?? '';
}

/** Reads an object within a span. Upstream: apiserver/pkg/storage/cacher/delegator.go. */
function getWithin(
  span: RequestSpan,
  store: Store,
  { namespace, name }: RequestInfo,
  resourceVersion: string,
): CachedObject | Promise<CachedObject> {
  const attributes = [
    ['key', store.key(namespace, name)],
    ['resource-version', resourceVersion],
  ] as const;
  span.event('About to Get from storage');
  return span.around('cacher.Get', attributes, (addEvent) => {
    const found = store.get(namespace, name, resourceVersion);
    // An asynchronous result comes from the storage, unless the request waits for the cache.
    addEvent(
      found instanceof Promise && resourceVersion === '' ? 'About to Get from underlying storage' : 'About to fetch object from cache',
    );
    return found;
  });
}
