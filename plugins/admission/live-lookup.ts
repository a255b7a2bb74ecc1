import { quote } from 'kubenest/sdk';
import { isValidPathSegmentName } from '#sdk/internal';

/**
 * Returns the error of a name in a pod's reference, which would make a lookup in the store fail; undefined if it is valid.
 * Upstream: client-go/rest/request.go (Name).
 */
export function lookupProblem(name: string): string | undefined {
  if (name === '') return 'resource name may not be empty';
  const problems = isValidPathSegmentName(name);
  return problems.length === 0 ? undefined : `invalid resource name ${quote(name)}: [${problems.join(' ')}]`;
}
