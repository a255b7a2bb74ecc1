import type { Filter } from '#apiserver/request/request-context';

/** From here on `warn` is heard: what is said becomes Warning headers of the answer. Upstream: endpoints/filters/warning.go. */
export const withWarningRecorder: Filter = (next) => (context) => {
  context.warnings = [];
  return next(context);
};
