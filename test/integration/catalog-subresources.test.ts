import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { KubeObject } from '#apimachinery/meta/types';
import { type ApiRequest, type InProcessApi, startApi } from '#cmd/explain/api';
import { ExistingObjects } from '#cmd/explain/existing-objects';
import type { PolicyTestFile } from '#cmd/policy-tests/policy-test';
import { readPolicyTests } from '#cmd/policy-tests/read-policy-tests';

/*
 * No subresource may produce an object that a rule denies. For each object that a rule denies in its tests, each object that it admits
 * there, and each subresource of their kind: the admitted object is stored, and what the denied one has is written by the subresource. If a
 * create of the stored object is then denied, the write must have been denied, too.
 *
 * The rules run in mode `warn`: one server plays all rules of a package, and stores everything.
 */

const files = await readPolicyTests([resolve(import.meta.dirname, '../../plugins/catalog')]);
const filesByPackage = Map.groupBy(files, ({ file }) => basename(dirname(dirname(file))));

interface Package {
  readonly package: string;
  readonly contributions: readonly string[];
  readonly configuration?: Readonly<Record<string, unknown>>;
}

function packagesOf({ file, config, plugins }: PolicyTestFile): readonly Package[] {
  if (plugins !== undefined) return plugins as readonly Package[];
  return (parse(readFileSync(resolve(dirname(file), config ?? ''), 'utf8')) as { readonly plugins: readonly Package[] }).plugins;
}

/** Returns a list of plugins with all rules of the files, each with the configuration of its first file. */
function pluginsOf(tested: readonly PolicyTestFile[]): object[] {
  const configuration: Record<string, unknown> = {};
  const rules = new Set<string>();
  let name = '';
  for (const item of tested.flatMap(packagesOf)) {
    name = item.package;
    for (const rule of item.contributions) rules.add(rule);
    for (const [rule, value] of Object.entries(item.configuration ?? {})) configuration[rule] ??= value;
  }
  const policies = Object.fromEntries([...rules].map((rule) => [rule, { mode: 'warn' }]));
  return [{ package: name, contributions: [...rules], configuration, policies }];
}

interface Subresource {
  readonly name: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** Writes objects and their subresources, and reports the rules that object. */
class Player {
  readonly #subresources = new Map<string, readonly Subresource[]>();

  constructor(private readonly api: InProcessApi) {}

  async #ask(request: ApiRequest): Promise<{ readonly status: number; readonly body: KubeObject; readonly rules: ReadonlySet<string> }> {
    const { status, text, headers } = await this.api.ask(request);
    const warnings = headers.get('warning') ?? '';
    const rules = [...warnings.matchAll(/admission plugin \\?"(\w+)/g)].map(([, rule = '']) => rule);
    return { status, body: JSON.parse(text) as KubeObject, rules: new Set(rules) };
  }

  /** Returns the rules that deny a create of the object, which must not exist. Undefined if it is invalid. */
  async deniersOf(path: string, object: KubeObject): Promise<ReadonlySet<string> | undefined> {
    const { uid: _, resourceVersion: __, ...metadata } = object.metadata;
    const collection = path.slice(0, path.lastIndexOf('/'));
    const { status, rules } = await this.#ask({ method: 'POST', path: `${collection}?dryRun=All`, body: { ...object, metadata } });
    return status === 201 ? rules : undefined;
  }

  async stored(path: string): Promise<KubeObject> {
    return (await this.#ask({ method: 'GET', path })).body;
  }

  /** Returns the subresources of an object that can be written. */
  async subresourcesOf(path: string): Promise<readonly Subresource[]> {
    const [, group = '', resource = ''] = /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/(?=.+\/))?([^/]+)/.exec(path) ?? [];
    const key = `${group}/${resource}`;
    let found = this.#subresources.get(key);
    if (!found) {
      const { resources } = (await this.#ask({ method: 'GET', path: group })).body as unknown as {
        readonly resources: readonly Subresource[];
      };
      found = resources
        .filter(({ name, verbs }) => name.startsWith(`${resource}/`) && verbs.some((verb) => verb === 'create' || verb === 'update'))
        .map((one) => ({ ...one, name: one.name.slice(resource.length + 1) }));
      // The older API of the subresource.
      if (resource === 'pods') found = [...found, { name: 'bindings', kind: 'Binding', verbs: ['create'] }];
      this.#subresources.set(key, found);
    }
    return found;
  }

  /** Writes members of an object by a subresource. Returns the rules that object; undefined if the server rejects the write. */
  async write(path: string, { name, kind, verbs }: Subresource, from: KubeObject): Promise<ReadonlySet<string> | undefined> {
    const target = name === 'bindings' ? `${path.slice(0, path.lastIndexOf('/pods/'))}/bindings` : `${path}/${name}`;
    if (!verbs.includes('update')) {
      const { labels, annotations } = from.metadata;
      const body = { kind, metadata: { name: path.split('/').at(-1), labels, annotations }, ...bodies[kind] };
      const { status, rules } = await this.#ask({ method: 'POST', path: target, body });
      return status < 300 ? rules : undefined;
    }
    const current = await this.stored(target);
    const body = name === 'ephemeralcontainers' ? withEphemeralContainers(current, from) : changed(current, from, kind);
    const { status, rules } = await this.#ask({ method: 'PUT', path: target, body });
    return status < 300 ? rules : undefined;
  }
}

/** Members of the objects that a subresource creates, besides the metadata. */
const bodies: Readonly<Record<string, object>> = {
  Binding: { target: { kind: 'Node', name: 'node' } },
  TokenRequest: { spec: {} },
};

/** Members of a container that an ephemeral one cannot have. */
const ofContainersOnly = ['ports', 'resources', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'] as const;

interface Containers {
  readonly containers: readonly Readonly<Record<string, unknown>>[];
  readonly initContainers?: readonly Readonly<Record<string, unknown>>[];
  readonly ephemeralContainers?: readonly Readonly<Record<string, unknown>>[];
}

/** Returns a pod whose ephemeral containers are the containers of another one. */
function withEphemeralContainers(pod: KubeObject, from: KubeObject): KubeObject {
  const { containers, initContainers = [] } = from['spec'] as Containers;
  const ephemeralContainers = [...initContainers, ...containers].map(({ restartPolicy: _, ...container }, i) => {
    const allowed = Object.entries(container).filter(([member]) => !ofContainersOnly.includes(member as (typeof ofContainersOnly)[number]));
    return { ...Object.fromEntries(allowed), name: `debug-${i}` };
  });
  return { ...pod, spec: { ...(pod['spec'] as Containers), ephemeralContainers } } as KubeObject;
}

/**
 * Returns a pod in which ephemeral containers are ordinary ones, because no pod can be created with ephemeral containers. They have the
 * probes, resources and ports of the first container, because ephemeral containers have none.
 */
function creatable(pod: KubeObject): KubeObject {
  if (pod.kind !== 'Pod') return pod;
  const { ephemeralContainers, ...spec } = pod['spec'] as Containers;
  if (!ephemeralContainers) return pod;
  const first = spec.containers[0] ?? {};
  const lacking = Object.fromEntries(ofContainersOnly.flatMap((member) => (first[member] === undefined ? [] : [[member, first[member]]])));
  return {
    ...pod,
    spec: { ...spec, containers: [...spec.containers, ...ephemeralContainers.map((one) => ({ ...one, ...lacking }))] },
  } as KubeObject;
}

/** Returns an object with the labels, annotations, spec and status of another one. */
function changed(current: KubeObject, from: KubeObject, kind: string): KubeObject {
  const { labels, annotations } = from.metadata;
  const spec = from['spec'] as { readonly replicas?: number } | undefined;
  if (kind === 'Scale') return { ...current, spec: { replicas: spec?.replicas ?? 1 } };
  return {
    ...current,
    metadata: { ...current.metadata, ...{ labels, annotations } },
    ...(spec && { spec }),
    ...(from['status'] !== undefined && { status: from['status'] }),
  } as KubeObject;
}

interface Pair {
  /** An object that the rules admit. */
  readonly start: KubeObject;
  /** An object of the same kind that a rule denies. */
  readonly bad: KubeObject;
  /** Objects that exist. */
  readonly shared: PolicyTestFile['existing'];
}

/** Returns each object that the rules of a package admit in their tests with each one that they deny. */
function pairsOf(tested: readonly PolicyTestFile[]): Pair[] {
  const pairs = tested.flatMap(({ tests, existing: shared }) => {
    const plain = tests.filter(({ operation, subresource, user }) => operation !== 'DELETE' && !subresource && !user);
    const withVerdict = (verdict: string): KubeObject[] =>
      plain.filter(({ expected }) => expected.verdict === verdict).map(({ object }) => object);
    const good = withVerdict('admitted');
    return withVerdict('denied').flatMap((bad) =>
      good.filter(({ kind }) => kind === bad.kind).map((start): Pair => ({ start, bad, shared })),
    );
  });
  // No rule is about service accounts: their subresource `token` is written with the metadata that a rule denies elsewhere.
  const ofAccount = (metadata: object): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'web', ...metadata },
  });
  const metadata = ({ metadata: { labels, annotations } }: KubeObject): object => ({ labels, annotations });
  return [...pairs, { start: ofAccount({}), bad: ofAccount(pairs[0] ? metadata(pairs[0].bad) : {}), shared: [] }];
}

/** Subresources that accepted a write, as `kind/subresource`. */
const written = new Set<string>();

/** Subresources that produce what rules deny, as `rule resource/subresource`. The last table below lists them. */
const denied = new Set<string>();

describe.each([...filesByPackage])('the package %s', (_, tested) => {
  it('denies by subresources what it denies in a create', async () => {
    await using api = await startApi(undefined, { plugins: { list: pluginsOf(tested), file: tested[0]?.file ?? '' }, isQuiet: true });
    const existing = new ExistingObjects(api, 'default');
    const player = new Player(api);
    const bypassed = new Set<string>();
    for (const { start, bad, shared } of pairsOf(tested)) {
      // The denied object may have another name; the subresource is written in the admitted one.
      const created = await existing.add([...shared, start]);
      const { path } = created.at(-1) as { readonly path: string };
      const before = await player.stored(path);
      const subresources = await player.subresourcesOf(path);
      await existing.remove(created);
      const atFirst = await player.deniersOf(path, before);
      for (const subresource of subresources) {
        const again = await existing.add([...shared, start]);
        const objecting = await player.write(path, subresource, bad);
        const after = objecting && (await player.stored(path));
        await existing.remove(again);
        if (after) written.add(`${bad.kind}/${subresource.name}`);
        const deniers = after?.metadata.uid ? await player.deniersOf(path, creatable(after)) : undefined;
        for (const rule of deniers ?? []) {
          if (atFirst?.has(rule)) continue;
          const place = `${rule} ${bad.kind}/${subresource.name}`;
          denied.add(place);
          if (!objecting?.has(rule)) bypassed.add(place);
        }
      }
    }
    expect([...bypassed]).toEqual([]);
  }, 120_000);
});

it('the subresources that produce what rules deny are known', () => {
  expect([...denied].sort()).toEqual([
    'AllowedCapabilities Pod/ephemeralcontainers',
    'AllowedHostPaths Pod/ephemeralcontainers',
    'AllowedPullPolicies Pod/ephemeralcontainers',
    'AllowedRepositories Pod/ephemeralcontainers',
    'AllowedStorageClasses PersistentVolumeClaim/status',
    'DisallowCapabilities Pod/ephemeralcontainers',
    'DisallowCapabilitiesStrict Pod/ephemeralcontainers',
    'DisallowPrivilegeEscalation Pod/ephemeralcontainers',
    'DisallowedTags Pod/ephemeralcontainers',
    'MaximumResourceRatio Pod/resize',
    'MaximumResources Pod/resize',
    'ReplicaLimits Deployment/scale',
    'RequireImageDigest Pod/ephemeralcontainers',
    'RequireImagePullSecrets Pod/ephemeralcontainers',
    'RequireIngressTls Ingress/status',
    'RequirePodDisruptionBudget Deployment/scale',
    'RequireReadOnlyRootFilesystem Pod/ephemeralcontainers',
    'RequireTopologySpread Deployment/scale',
    'RequiredAnnotations Deployment/status',
    'RequiredAnnotations Pod/binding',
    'RequiredAnnotations Pod/bindings',
    'RequiredAnnotations Pod/status',
    'RequiredLabels Pod/binding',
    'RequiredLabels Pod/bindings',
    'RequiredLabels Pod/status',
    'RestrictAppArmorProfiles Pod/binding',
    'RestrictAppArmorProfiles Pod/bindings',
    'VerifyImageSignatures Pod/ephemeralcontainers',
  ]);
});

it('the subresources that accept what rules deny elsewhere are known, so that none is left out unnoticed', () => {
  expect([...written].sort()).toEqual([
    'Deployment/scale',
    'Deployment/status',
    'Ingress/status',
    'Namespace/status',
    'PersistentVolumeClaim/status',
    'Pod/binding',
    'Pod/bindings',
    'Pod/ephemeralcontainers',
    'Pod/eviction',
    'Pod/resize',
    'Pod/status',
    'Service/status',
    'ServiceAccount/token',
    'StatefulSet/scale',
    'StatefulSet/status',
  ]);
});
