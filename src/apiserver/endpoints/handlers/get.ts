import { Injectable } from '@nestjs/common';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import { negotiate } from './negotiation.ts';
import { respondObject } from './object-responses.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';
import { respondBytes } from './responses.ts';
import { isPretty } from './negotiation.ts';

/** GET of one object, or of a subresource that shows its parent. Upstream: endpoints/handlers/get.go. */
@Injectable()
export class GetHandler {
  handle(context: RequestContext, endpoint: ResourceEndpoint): void | Promise<void> {
    const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
    const { namespace, name } = context.info;
    const resourceVersion = context.query === '' ? '' : (context.searchParams.get('resourceVersion') ?? '');
    const plain =
      !context.audit?.recordsResponse &&
      negotiated.mediaType === 'application/json' &&
      !negotiated.convert &&
      !endpoint.conversion &&
      !negotiated.pretty;
    const answer = (object: CachedObject): void => {
      if (plain && !isPretty(context.query, context.header('user-agent')) && object.bytes.length <= 128 * 1024) {
        return respondBytes(context, 200, 'application/json', object.bytes);
      }
      respondObject(context, endpoint, 200, object.bytes, negotiated);
    };
    const found = endpoint.store.get(namespace, name, resourceVersion);
    return found instanceof Promise ? found.then(answer) : answer(found);
  }
}
