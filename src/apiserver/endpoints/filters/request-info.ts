import { quote } from '#apimachinery/runtime/quote';
import { workOn } from '#apimachinery/runtime/steps';
import { escapeMarkup } from '#apiserver/base/markup';
import { respondText } from '#apiserver/endpoints/handlers/responses';
import type { Filter } from '#apiserver/request/request-context';
import { parseRequestInfo, RequestInfoError, selectedName } from '#apiserver/request/request-info';
import { isLongRunning } from '#apiserver/request/long-running';

/**
 * Sets the request info. A long selector, which unauthenticated clients may send, is read in several turns of the event loop. Upstream:
 * endpoints/filters/requestinfo.go.
 */
export const withRequestInfo: Filter = (next) => (context) => {
  try {
    context.info = parseRequestInfo(context.method, context.path, () => context.searchParams);
  } catch (error) {
    if (!(error instanceof RequestInfoError)) throw error;
    const text = `Internal Server Error: ${quote(context.exchange.url)}: failed to create RequestInfo: ${error.message}`;
    return respondText(context, 500, escapeMarkup(text));
  }
  const { info } = context;
  const proceed = (name: string): void | Promise<void> => {
    if (name !== '') info.name = name;
    context.longRunning = isLongRunning(context);
    return next(context);
  };
  if (info.fieldSelector === '') return proceed('');
  const name = workOn(
    info.fieldSelector.length + info.labelSelector.length,
    selectedName(info, () => context.searchParams),
  );
  return name instanceof Promise ? name.then(proceed) : proceed(name);
};
