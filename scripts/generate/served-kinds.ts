import { read } from './facts.ts';

type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** A subresource, its operations in admission, and the type of its objects: `policy_v1.Eviction`; undefined for options of a connection. */
export interface ServedSubresource {
  readonly name: string;
  readonly type: string | undefined;
  readonly operations: readonly Operation[];
}

/** A kind that upstream serves in a version. */
export interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly resource: string;
  readonly isNamespaced: boolean;
  /** Name of its type: `core_v1.Pod`. */
  readonly type: string;
  /** True if its objects can be read, and have a name. */
  readonly isStored: boolean;
  /** True if the version is the preferred one of its group and enabled by default. */
  readonly isPreferred: boolean;
  readonly operations: readonly Operation[];
  readonly subresources: readonly ServedSubresource[];
}

interface ResourceFacts {
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly sub?: Readonly<Record<string, { readonly kind: string; readonly verbs: readonly string[]; readonly gv?: string }>>;
}
type ServedFacts = Readonly<Record<string, Readonly<Record<string, ResourceFacts>>>>;

/** Returns the kinds of all versions that upstream serves, including those that are off by default. */
export function servedKinds(facts: string): ServedKind[] {
  const { groupVersions, served, offByDefault } = read(facts, 'resources.json') as unknown as {
    readonly groupVersions: readonly { readonly gv: string; readonly preferred: boolean }[];
    readonly served: ServedFacts;
    readonly offByDefault: ServedFacts;
  };
  const preferred = new Set(groupVersions.flatMap(({ gv, preferred: isPreferred }) => (isPreferred ? [gv] : [])));
  const of = (table: ServedFacts, isOn: boolean): ServedKind[] =>
    Object.entries(table).flatMap(([gv, resources]) =>
      Object.entries(resources).map(([resource, kind]) => servedKind(gv, resource, kind, isOn && preferred.has(gv))),
    );
  return [...of(served, true), ...of(offByDefault, false)];
}

function servedKind(gv: string, resource: string, { kind, namespaced, verbs, sub = {} }: ResourceFacts, isPreferred: boolean): ServedKind {
  const [group, version] = splitGroupVersion(gv);
  return {
    group,
    version,
    kind,
    resource,
    isNamespaced: namespaced,
    type: typeName(gv, kind),
    isStored: verbs.includes('get'),
    isPreferred,
    operations: operationsOf(verbs),
    subresources: Object.entries(sub)
      .map(([name, facts]) => {
        const connects = isConnection(name);
        const operations: Operation[] = connects ? ['CONNECT'] : operationsOf(facts.verbs);
        return { name, type: connects ? undefined : typeName(facts.gv ?? gv, facts.kind), operations };
      })
      .filter(({ operations }) => operations.length > 0),
  };
}

/** Subresources of which every request is a connection to a kubelet, pod or service. */
function isConnection(subresource: string): boolean {
  return ['attach', 'exec', 'portforward', 'proxy'].includes(subresource);
}

function operationsOf(verbs: readonly string[]): Operation[] {
  return [
    ...(verbs.includes('create') ? (['CREATE'] as const) : []),
    ...(verbs.includes('update') ? (['UPDATE'] as const) : []),
    ...(verbs.includes('delete') ? (['DELETE'] as const) : []),
  ];
}

function splitGroupVersion(gv: string): [group: string, version: string] {
  const slash = gv.indexOf('/');
  return slash < 0 ? ['', gv] : [gv.slice(0, slash), gv.slice(slash + 1)];
}

/** Returns the name of a type: `rbac_v1.Role`, whose file is named by the first part of the group; `events_v1` and `core_v1`. */
function typeName(gv: string, kind: string): string {
  const [group, version] = splitGroupVersion(gv);
  const first = group === '' ? 'core' : (group.split('.')[0] ?? group);
  return `${fileNames[group] ?? first}_${version}.${kind}`;
}

/** Files that are not named by the first part of their group. */
const fileNames: Readonly<Record<string, string>> = { 'internal.apiserver.k8s.io': 'apiserverinternal' };
