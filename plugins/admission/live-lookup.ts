import { isValidPathSegmentName, quote } from 'kubenest/sdk';

/**
 * What is wrong with a name that a pod refers to by, where the cache has no such object and the store would be asked; undefined if nothing.
 * Upstream: client-go/rest/request.go (Name).
 */
export function lookupProblem(name: string): string | undefined {
  if (name === '') return 'resource name may not be empty';
  const problems = isValidPathSegmentName(name);
  return problems.length === 0 ? undefined : `invalid resource name ${quote(name)}: [${problems.join(' ')}]`;
}
