import type { Buffer } from 'node:buffer';
import { newUnsupportedMediaType } from '#apimachinery/api/errors';
import { needsSteps } from '#apimachinery/runtime/steps';
import type { MediaType } from '#apiserver/request/media-type';
import type { RequestContext } from '#apiserver/request/request-context';
import type { SharedBudget } from '#apiserver/request/shared-budget';
import { processBudgets } from './process-budgets.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';

/** Returns the media type of a request's body; JSON if it has none. Throws UnsupportedMediaType (415). */
export function inputMediaType(
  context: RequestContext,
  { restrictions: { mediaTypes } }: Pick<ResourceEndpoint, 'restrictions'>,
): MediaType {
  const header = context.header('content-type');
  if (!header || header === 'application/json') return 'application/json';
  const mediaType = header.split(';', 1)[0]?.trim().toLowerCase() as MediaType;
  if (!mediaTypes.includes(mediaType) || !wellFormedParameters.test(header)) throw newUnsupportedMediaType(mediaTypes);
  return mediaType;
}

/** Go's mime.ParseMediaType: a parameter has a value, a token or quoted. */
const wellFormedParameters = /^[^;]*(?:;\s*[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"(?:[^"\\]|\\.)*")\s*)*;?\s*$/;

/** Maximum size of a request body. Upstream: server/config.go. */
export const maxRequestBodyBytes = 3 * 1024 * 1024;

/**
 * Reads the whole body of a request and records its size. A large body waits for room in the budgets, shared fairly among owners, which
 * are users by default, and holds it until the request is over. Rejects like `Exchange.readBody`.
 */
export function readRequestBody(context: RequestContext, { maxBytes, owner }: BodyLimits = usualLimits(context)): Promise<Buffer> {
  const { bodyLength, isInProcess } = context.exchange;
  const isLarge = !isInProcess && (bodyLength === undefined || needsSteps(bodyLength));
  const read = (isLarge ? readLargeBody(context, maxBytes, owner) : context.exchange.readBody(maxBytes)).then((body) => {
    context.requestBytes = body.length;
    context.span?.event('limitedReadBody succeeded', [['len', body.length]]);
    return body;
  });
  if (context.span)
    read.catch((error: Error) =>
      context.span?.event('limitedReadBody failed', [
        ['len', 0],
        ['err', error.message],
      ]),
    );
  return read;
}

/** Limits of a body that are not those of the API. */
export interface BodyLimits {
  readonly maxBytes: number;
  /** Name of the client whose bodies share the budgets. */
  readonly owner: string;
}

function usualLimits({ user }: RequestContext): BodyLimits {
  return { maxBytes: maxRequestBodyBytes, owner: user?.name ?? '' };
}

async function readLargeBody(context: RequestContext, maxBytes: number, owner: string): Promise<Buffer> {
  const { exchange } = context;
  await hold(processBudgets.arrivingBodies, context, owner, Math.min(exchange.bodyLength ?? maxBytes, maxBytes));
  const body = await exchange.readBody(maxBytes);
  if (needsSteps(body.length)) await hold(processBudgets.processedBodies, context, owner, body.length);
  return body;
}

/** Takes bytes from a budget until the request is over. Rejects with ClientGoneError. */
async function hold(budget: SharedBudget, context: RequestContext, owner: string, bytes: number): Promise<void> {
  const taken = budget.take(owner, bytes, (gone) => context.exchange.onClose(gone));
  context.whenSettled(taken instanceof Promise ? await taken : taken);
}
