import { Buffer } from 'node:buffer';
import { newMethodNotSupported, newNotFound, newServiceUnavailable, newUnsupportedMediaType, StatusError } from '#apimachinery/api/errors';
import { paceOf } from '#apimachinery/runtime/pace';
import { withMeasurement } from '#apiserver/endpoints/handlers/measurement';
import { readRequestBody } from '#apiserver/endpoints/handlers/request-body';
import { respondBytes } from '#apiserver/endpoints/handlers/responses';
import type { PathMux } from '#apiserver/endpoints/path-mux';
import type { Handler, RequestContext } from '#apiserver/request/request-context';
import type { WebhookPlugins } from '../webhook-plugins.ts';
import { answeredReview, readReview } from './admission-review.ts';
import type { Reviewer, ReviewPhase } from './reviewer.ts';

/**
 * Maximum size of a review. It has the object before and after a change, each up to 3 MiB, whose JSON may be larger than the form in which
 * the client sent it.
 */
export const maxReviewBytes = 16 * 1024 * 1024;
const mediaType = 'application/json';

export interface ReviewRoutes {
  readonly reviewer: Reviewer;
  readonly plugins: WebhookPlugins;
  /** Throws an Error with the reason if plugins cannot be called yet. */
  assertReady(): void;
}

/**
 * Serves reviews: `/mutate` and `/validate` call all plugins of their phase; `/mutate/NAME/NAME` calls only those, each named by
 * `pathName`.
 */
export function installReviews(mux: PathMux, routes: ReviewRoutes): void {
  for (const phase of ['mutate', 'validate'] as const) {
    const path = `/${phase}`;
    const handler = withMeasurement(path, '', reviewHandler(phase, routes));
    mux.handle(path, handler);
    mux.handlePrefix(`${path}/`, handler);
  }
}

function reviewHandler(phase: ReviewPhase, { reviewer, plugins, assertReady }: ReviewRoutes): Handler {
  return async (context) => {
    assertReview(context);
    const names = context.path.split('/').slice(2);
    const chain = plugins.chain(names.length > 0 ? names : undefined);
    if (!chain) throw noPlugin(names.find((name) => !plugins.chain([name])) ?? names.join('/'));
    // API servers are anonymous here, so that addresses share the room for large bodies.
    const body = await readRequestBody(context, { maxBytes: maxReviewBytes, owner: context.exchange.peer.remoteAddress });
    const request = await readReview(body);
    try {
      assertReady();
    } catch (error) {
      throw newServiceUnavailable((error as Error).message);
    }
    const verdict = await reviewer.review({ phase, request, chain, pace: paceOf(body.length) }, context);
    respondBytes(context, 200, mediaType, Buffer.from(answeredReview(request.uid, verdict)));
  };
}

/** Returns the error of a webhook configuration that was printed for other packages. */
function noPlugin(name: string): StatusError {
  const { status } = newNotFound({ group: '', resource: 'plugins' }, name);
  const remedy = 'print the manifests for the configuration of this server, and apply them';
  return new StatusError({ ...status, message: `${status.message} in this webhook server: ${remedy}` });
}

/** Throws MethodNotAllowed or UnsupportedMediaType. */
function assertReview(context: RequestContext): void {
  if (context.method !== 'POST') {
    context.headers.push('Allow', 'POST');
    throw newMethodNotSupported({ group: 'admission.k8s.io', resource: 'admissionreviews' }, context.method);
  }
  const [type = ''] = (context.header('content-type') ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== mediaType) throw newUnsupportedMediaType([mediaType]);
}
