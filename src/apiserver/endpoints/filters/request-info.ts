import { quote } from '#apimachinery/runtime/quote';
import { respondText } from '#apiserver/endpoints/handlers/responses';
import type { Filter } from '#apiserver/request/request-context';
import { parseRequestInfo, RequestInfoError } from '#apiserver/request/request-info';
import { isLongRunning } from '#apiserver/request/long-running';

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Sets the request info. Upstream: endpoints/filters/requestinfo.go. */
export const withRequestInfo: Filter = (next) => (context) => {
  try {
    context.info = parseRequestInfo(context.method, context.path, () => context.searchParams);
  } catch (error) {
    if (!(error instanceof RequestInfoError)) throw error;
    const text = `Internal Server Error: ${quote(context.exchange.url)}: failed to create RequestInfo: ${error.message}`;
    return respondText(
      context,
      500,
      text.replace(/[&<>]/g, (char) => entities[char] as string),
    );
  }
  context.longRunning = isLongRunning(context);
  return next(context);
};
