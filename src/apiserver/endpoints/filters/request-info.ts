import { newBadRequest } from '#apimachinery/api/errors';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import type { Filter } from '#apiserver/endpoints/request/request-context';
import { parseRequestInfo, RequestInfoError } from '#apiserver/endpoints/request/request-info';
import { isLongRunning } from '#apiserver/endpoints/request/long-running';

/** Upstream: endpoints/filters/requestinfo.go. */
export const withRequestInfo: Filter = (next) => (context) => {
  try {
    context.info = parseRequestInfo(context.method, context.path, context.query);
  } catch (error) {
    if (!(error instanceof RequestInfoError)) throw error;
    return respondError(context, newBadRequest(`failed to create RequestInfo: ${error.message}`));
  }
  context.longRunning = isLongRunning(context);
  return next(context);
};
