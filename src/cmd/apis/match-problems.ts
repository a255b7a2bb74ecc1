import type { AdmissionMatch } from '#apiserver/admission/attributes';
import type { ContributedGroupOptions } from '#apiserver/registry/contributed-group';
import type { ResourceDefinition } from '#apiserver/registry/resource-definition';
import type { Scheme } from '#apiserver/registry/scheme';
import type { Operation } from '#apiserver/request/admission-context';
import { nearestName } from '#cmd/options/nearest-name';

/** A resource or subresource that plugins can match, with the operations that its requests have. */
export interface MatchTarget {
  readonly group: string;
  readonly resource: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  readonly operations: ReadonlySet<Operation>;
}

const allOperations: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
const operationOfVerb: Readonly<Record<string, Operation>> = {
  create: 'CREATE',
  update: 'UPDATE',
  patch: 'UPDATE',
  delete: 'DELETE',
  deletecollection: 'DELETE',
};

/** Returns the targets of the built-in groups, enabled or not, and of the groups of packages. */
export function matchTargets(scheme: Scheme, contributed: readonly ContributedGroupOptions[]): MatchTarget[] {
  const builtIn = scheme.known.flatMap(({ resources }) => resources.flatMap(targetsOf));
  const writes = new Set<Operation>(['CREATE', 'UPDATE', 'DELETE']);
  const ofPackages = contributed.flatMap(({ group, resources }) =>
    resources.flatMap(({ resource, subresources = {}, status, scale }) =>
      ['', ...Object.keys(subresources), ...(status ? ['status'] : []), ...(scale ? ['scale'] : [])].map((subresource) => ({
        group,
        resource,
        subresource,
        operations: writes,
      })),
    ),
  );
  return [...builtIn, ...ofPackages];
}

function targetsOf({ group, resource, verbs, subresources, computed = {} }: ResourceDefinition): MatchTarget[] {
  const target = (subresource: string, operations: Iterable<Operation>): MatchTarget => ({
    group,
    resource,
    subresource,
    operations: new Set(operations),
  });
  return [
    target('', operationsOf(verbs)),
    ...Object.keys(computed).map((name) => target(name, ['CREATE'])),
    ...Object.entries(subresources).map(([name, subresource]) =>
      target(name, subresource.kind !== undefined && subresource.connect ? ['CONNECT'] : operationsOf(subresource.verbs)),
    ),
  ];
}

function operationsOf(verbs: readonly string[]): Operation[] {
  return verbs.flatMap((verb) => operationOfVerb[verb] ?? []);
}

/**
 * Returns why the `match` of an admission plugin can never select a request, one phrase for each problem. Groups outside of the targets may
 * be those of custom resources, whose resources are not known at start.
 */
export function matchProblems(match: unknown, targets: readonly MatchTarget[]): string[] {
  if (!Array.isArray(match) || match.length === 0) return ['has no `match`, so it would never be called'];
  return match.flatMap((one: unknown, i) => problemsOfMatch(one, targets).map((problem) => `match[${i}]${problem}`));
}

function problemsOfMatch(match: unknown, targets: readonly MatchTarget[]): string[] {
  const malformed = malformedMembers(match);
  if (malformed.length > 0) return malformed;
  const { groups = ['*'], resources, subresources = [''], operations } = match as AdmissionMatch;
  const unknownGroups = unknown(
    'groups',
    'group',
    groups,
    (group) => group.includes('.') || targets.some((target) => target.group === group),
    () => targets.map(({ group }) => group),
  );
  if (unknownGroups.length > 0) return unknownGroups;
  // A custom resource may have any of these names.
  if (groups.some((group) => group !== '*' && !targets.some((target) => target.group === group))) return [];
  const inGroups = targets.filter(({ group }) => has(groups, group));
  const unknownResources = unknown(
    'resources',
    'resource',
    resources,
    (name) => inGroups.some(({ resource }) => resource === name),
    () => inGroups.map(({ resource }) => resource),
  ).map((problem) =>
    has(groups, '') && groups.includes('*') ? `${problem}; \`groups\` must name the group of a custom resource` : problem,
  );
  if (unknownResources.length > 0) return unknownResources;
  const ofResources = inGroups.filter(({ resource }) => has(resources, resource));
  const unknownSubresources = unknown(
    'subresources',
    'subresource',
    subresources,
    (name) => ofResources.some(({ subresource }) => subresource === name),
    () => ofResources.map(({ subresource }) => subresource),
  );
  if (unknownSubresources.length > 0) return unknownSubresources;
  const selected = ofResources.filter(({ subresource }) => has(subresources, subresource));
  return operations
    .filter((operation) => !selected.some((target) => target.operations.has(operation)))
    .map((operation) => `.operations: no selected resource or subresource has the operation ${operation}`);
}

function malformedMembers(match: unknown): string[] {
  if (typeof match !== 'object' || match === null) return [' is not an object'];
  const { groups, resources, subresources, operations } = match as Record<string, unknown>;
  const needed = { resources, operations, ...(groups !== undefined && { groups }), ...(subresources !== undefined && { subresources }) };
  const problems = Object.entries(needed)
    .filter(([, list]) => !Array.isArray(list) || list.length === 0 || !list.every((item) => typeof item === 'string'))
    .map(([name]) => `.${name} must be a list of one or more strings`);
  if (problems.length > 0) return problems;
  return unknown(
    'operations',
    'operation',
    operations as string[],
    (name) => allOperations.includes(name as Operation),
    () => allOperations,
  );
}

/** Returns the problems of the names that are unknown, with the name that is probably meant. */
function unknown(
  member: string,
  what: string,
  names: readonly string[],
  isKnown: (name: string) => boolean,
  known: () => readonly string[],
): string[] {
  return names
    .filter((name) => name !== '*' && !isKnown(name))
    .map((name) => {
      const meant = nearestName(name.toLowerCase(), known()) ?? known().find((one) => one === name.toUpperCase());
      return `.${member}: unknown ${what} ${JSON.stringify(name)}${meant ? ` (did you mean ${JSON.stringify(meant)}?)` : ''}`;
    });
}

function has(names: readonly string[], name: string): boolean {
  return names.includes('*') || names.includes(name);
}
