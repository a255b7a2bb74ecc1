/**
 * The CEL environments shared by all expressions of Kubernetes, by version. Upstream: apiserver/pkg/cel/environment/base.go.
 */
import { Environment, type Library } from './environment.ts';
import { authzLibrary, authzSelectorsLibrary } from './library/authz.ts';
import { twoVariableLibrary } from './library/comprehensions.ts';
import { formatLibrary } from './library/formats.ts';
import { ipCidrLibrary } from './library/ip-cidr.ts';
import { kubernetesListsLibrary } from './library/kubernetes-lists.ts';
import { listsLibrary } from './library/lists.ts';
import { optionalLibrary } from './library/optional.ts';
import { quantityLibrary } from './library/quantity.ts';
import { regexLibrary } from './library/regex.ts';
import { semverLibrary } from './library/semver.ts';
import { setsLibrary } from './library/sets.ts';
import { stringsLibrary } from './library/strings.ts';
import { urlsLibrary } from './library/urls.ts';

/** Libraries with the Kubernetes minor version (1.x) that introduced them. */
const libraries: readonly (readonly [minor: number, library: Library])[] = [
  [0, urlsLibrary],
  [0, regexLibrary],
  [0, kubernetesListsLibrary],
  [27, authzLibrary],
  [28, optionalLibrary],
  [28, quantityLibrary],
  [29, stringsLibrary],
  [29, setsLibrary],
  [30, ipCidrLibrary],
  [31, formatLibrary],
  [31, authzSelectorsLibrary],
  [32, twoVariableLibrary],
  [33, semverLibrary],
  [34, listsLibrary],
];

/** New expressions may use only features of the previous version, so that they stay readable after a rollback. */
const newExpressionsMinor = 35;

function environmentOf(minor: number): Environment {
  return Environment.standard().extend(...libraries.filter(([introduced]) => introduced <= minor).map(([, library]) => library));
}

/** The environment for expressions that clients send. Upstream: NewExpressionsEnv. */
export const newExpressionsEnvironment = environmentOf(newExpressionsMinor);

/** The environment for stored expressions, with all libraries. Upstream: StoredExpressionsEnv. */
export const storedExpressionsEnvironment = environmentOf(Number.POSITIVE_INFINITY);
