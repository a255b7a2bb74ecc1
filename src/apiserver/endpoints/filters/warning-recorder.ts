import type { Filter } from '#apiserver/request/request-context';

/**
 * Enables `warn` for subsequent filters and handlers, which adds Warning headers to the response. Upstream:
 * endpoints/filters/warning.go.
 */
export const withWarningRecorder: Filter = (next) => (context) => {
  context.warnings = [];
  return next(context);
};
