import { newBadRequest } from '#apimachinery/api/errors';
import { type GroupVersionKind, groupVersionString } from '#apimachinery/meta/types';
import { quote } from '#apimachinery/runtime/quote';
import type { RequestContext } from '#apiserver/request/request-context';
import type { DecodedBody } from './expected-body.ts';

const yamlPrefix = /^(?:error converting YAML to JSON: )?yaml: unmarshal errors:\n/;

/**
 * Yields the warnings of an error; a YAML error has one line for each duplicate key. Upstream: handlers/rest.go
 * (parseYAMLWarnings).
 */
function* warningsOf(error: string): Generator<string> {
  const prefix = yamlPrefix.exec(error)?.[0];
  if (prefix === undefined) return yield error;
  for (let from = prefix.length; from <= error.length; ) {
    const end = error.indexOf('\n', from);
    const to = end < 0 ? error.length : end;
    yield error.slice(from, to).trim();
    from = to + 1;
  }
}

/** Adds warnings for strict errors until the limit. Upstream: handlers/rest.go (addStrictDecodingWarnings). */
export function warnOf(context: RequestContext, errors: Iterable<string>): void {
  for (const error of errors) {
    for (const warning of warningsOf(error)) {
      context.warn(warning);
      if (!context.takesWarnings) return;
    }
  }
}

/** Upstream's message about an untyped object whose apiVersion has no version. */
export const versionIsMissing = "Object 'apiVersion' is missing in 'object has no apiVersion field'";

/**
 * Applies `fieldValidation`: Strict throws BadRequest, Warn adds warnings, Ignore does nothing. Then throws BadRequest for a custom
 * resource of another version.
 */
export function applyFieldValidation(
  context: RequestContext,
  { strictErrors, sent }: Pick<DecodedBody, 'strictErrors' | 'sent'>,
  validation: 'Ignore' | 'Warn' | 'Strict',
  expected: { readonly kind: GroupVersionKind },
): void {
  if (validation === 'Warn') warnOf(context, strictErrors);
  else if (validation === 'Strict') refuseStrictErrors([...strictErrors], sent ?? expected.kind);
  if (sent) checkCustomVersion(sent, expected.kind);
}

function refuseStrictErrors(all: readonly string[], { kind, version }: GroupVersionKind): void {
  if (all.length === 0) return;
  if (version === '') throw newBadRequest(versionIsMissing);
  throw newBadRequest(`${kind} in version ${quote(version)} cannot be handled as a ${kind}: strict decoding error: ${all.join(', ')}`);
}

/** Requires the endpoint's version. */
function checkCustomVersion(sent: GroupVersionKind, expected: GroupVersionKind): void {
  const [apiVersion, want] = [groupVersionString(sent), groupVersionString(expected)];
  if (apiVersion !== want)
    throw newBadRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${want})`);
}
