import { Buffer } from 'node:buffer';
import { posix } from 'node:path';
import { quote } from 'kubenest/sdk';
import type { ConfigMap, Container, DownwardAPIVolumeFile, KeyToPath, Pod, Secret, Volume } from 'kubenest/types/core_v1';
import { textOfBytes } from '../shell/bytes.ts';
import { UnsupportedScriptError } from '../shell/script.ts';
import type { ClusterSources, ContainerSources, MountedTexts, SourceResource } from './cluster-sources.ts';
import { mountsOf } from './container-files.ts';
import { containersOf } from './container-roles.ts';
import { podField, resourceField } from './environment.ts';

/** Maximum length of all texts of a container, and the length for which reading an object counts. */
const maxLength = 2 * 1_048_576;
const lengthOfRead = 1_024;

type Count = (length: number) => void;
type Texts = ReadonlyMap<string, string>;
type ReadTexts = (resource: SourceResource, name: string | undefined) => Texts;

/**
 * Reads the sources of a container as they are now. Throws UnsupportedScriptError if they are too large for the simulation. Upstream:
 * kubernetes/pkg/kubelet (makeEnvironmentVariables) and pkg/volume.
 */
export function containerSources(pod: Pod, container: Container, cluster: ClusterSources): ContainerSources {
  const count = counter();
  const variables = readTexts(pod, cluster, count, (object, resource) =>
    resource === 'secrets' ? decoded((object as Secret).data) : Object.entries((object as ConfigMap).data ?? {}),
  );
  const files = readTexts(pod, cluster, count, textsOf);
  return { env: environment(pod, container, variables, cluster), mounted: mountedTexts(pod, container, files, cluster, count) };
}

/** Counts lengths up to the maximum. */
function counter(): Count {
  let left = maxLength;
  return (length) => {
    left -= length;
    if (left < 0) throw new UnsupportedScriptError('the volumes and variables of the container are too large for the simulation');
  };
}

function readTexts(
  { metadata }: Pod,
  cluster: ClusterSources,
  count: Count,
  entriesOf: (object: ConfigMap | Secret, resource: SourceResource) => readonly (readonly [key: string, text: string])[],
): ReadTexts {
  return (resource, name) => {
    count(lengthOfRead);
    const object = name === undefined ? undefined : cluster.read(resource, metadata.namespace ?? '', name);
    const entries = object ? entriesOf(object, resource) : [];
    for (const [key, text] of entries) count(key.length + text.length);
    return new Map(entries);
  };
}

/** Lists the files that a volume has for a config map or a secret. */
function textsOf(object: ConfigMap | Secret, resource: SourceResource): [key: string, text: string][] {
  if (resource === 'secrets') return decoded((object as Secret).data);
  const { data = {}, binaryData } = object as ConfigMap;
  return [...Object.entries(data), ...decoded(binaryData)];
}

function decoded(data: Readonly<Record<string, string>> = {}): [key: string, text: string][] {
  return Object.entries(data).map(([key, value]) => [key, textOfBytes(Buffer.from(value, 'base64'))]);
}

function environment(
  pod: Pod,
  { name: ownName, env = [], envFrom = [] }: Container,
  texts: ReadTexts,
  cluster: ClusterSources,
): Record<string, string> {
  const result = new Map<string, string>();
  for (const { prefix = '', configMapRef, secretRef } of envFrom) {
    const found = configMapRef ? texts('configmaps', configMapRef.name) : texts('secrets', secretRef?.name);
    for (const [key, value] of found) result.set(prefix + key, value);
  }
  for (const { name = '', valueFrom } of env) {
    const { configMapKeyRef, secretKeyRef, resourceFieldRef } = valueFrom ?? {};
    const reference = configMapKeyRef ?? secretKeyRef;
    const value = reference
      ? texts(configMapKeyRef ? 'configmaps' : 'secrets', reference.name).get(reference.key ?? '')
      : resourceFieldRef && resourceField(pod, resourceFieldRef, ownName, cluster);
    if (value !== undefined) result.set(name, value);
  }
  return Object.fromEntries(result);
}

function mountedTexts(pod: Pod, container: Container, texts: ReadTexts, cluster: ClusterSources, count: Count): MountedTexts {
  const files = new Map<string, string>();
  const volumes = new Set<string>();
  const unknown: string[] = [];
  for (const { path, volume } of mountsOf(pod, container)) {
    const { configMap, secret, downwardAPI, projected, name = '' } = volume ?? {};
    if (!configMap && !secret && !downwardAPI && !projected) continue;
    volumes.add(name);
    const add = (found: Texts, items: readonly KeyToPath[] | undefined): void => {
      for (const [key, file] of items?.map((item) => [item.key ?? '', item.path ?? ''] as const) ??
        [...found.keys()].map((one) => [one, one])) {
        const text = found.get(key as string);
        if (text !== undefined) files.set(posix.join(path, file as string), text);
      }
    };
    const addFields = (items: readonly DownwardAPIVolumeFile[] = []): void => {
      for (const { path: file = '', fieldRef, resourceFieldRef } of items) {
        const text = fieldRef ? podField(pod, fieldRef) : resourceFieldRef && resourceField(pod, resourceFieldRef, undefined, cluster);
        count(lengthOfRead + (text?.length ?? 0));
        if (text === undefined) unknown.push(posix.join(path, file));
        else files.set(posix.join(path, file), text);
      }
    };
    if (downwardAPI) addFields(downwardAPI.items);
    for (const { resource, name: source, items } of referencesOf(volume)) add(texts(resource, source), items);
    for (const source of projected?.sources ?? []) {
      if (source.downwardAPI) addFields(source.downwardAPI.items);
      else if (source.serviceAccountToken) unknown.push(posix.join(path, source.serviceAccountToken.path ?? ''));
      else if (!source.configMap && !source.secret) unknown.push(path);
    }
  }
  return { texts: Object.fromEntries(files), volumes, unknown };
}

/** Reference of a volume to a config map or a secret. */
interface SourceReference {
  readonly resource: SourceResource;
  readonly name: string | undefined;
  readonly items: readonly KeyToPath[] | undefined;
  readonly isOptional: boolean;
}

/** Lists the config maps and secrets that are the content of a volume. */
function referencesOf({ configMap, secret, projected }: Volume = {}): SourceReference[] {
  const reference = (
    resource: SourceResource,
    name: string | undefined,
    { items, optional = false }: { items?: KeyToPath[]; optional?: boolean },
  ): SourceReference => ({ resource, name, items, isOptional: optional });
  return [
    ...(configMap ? [reference('configmaps', configMap.name, configMap)] : []),
    ...(secret ? [reference('secrets', secret.secretName, secret)] : []),
    ...(projected?.sources ?? []).flatMap((source) => [
      ...(source.configMap ? [reference('configmaps', source.configMap.name, source.configMap)] : []),
      ...(source.secret ? [reference('secrets', source.secret.name, source.secret)] : []),
    ]),
  ];
}

const singular = { configmaps: 'configmap', secrets: 'secret' } as const;
const kindOf = { configmaps: 'ConfigMap', secrets: 'Secret' } as const;

/**
 * Returns why the volumes of a pod cannot be mounted: a config map, a secret or a key that does not exist. Volumes that no container mounts
 * do not count. Upstream: kubernetes/pkg/volume/{configmap,secret,projected}.
 */
export function mountProblem(pod: Pod, cluster: ClusterSources): string | undefined {
  const mounted = new Set(containersOf(pod, undefined).flatMap(({ container }) => container.volumeMounts?.map(({ name }) => name) ?? []));
  for (const volume of pod.spec?.volumes ?? []) {
    if (!mounted.has(volume.name)) continue;
    for (const { resource, name = '', items = [], isOptional } of referencesOf(volume)) {
      if (isOptional) continue;
      const setUpFailed = `MountVolume.SetUp failed for volume ${quote(volume.name ?? '')} :`;
      const object = cluster.read(resource, pod.metadata.namespace ?? '', name);
      if (!object) return `${setUpFailed} ${notFound(resource, name)}`;
      const missing = items.find(({ key = '' }) => !hasKey(object, key, true));
      if (missing) return `${setUpFailed} references non-existent ${resource === 'secrets' ? 'secret' : 'config'} key: ${missing.key}`;
    }
  }
  return undefined;
}

/**
 * Returns why the environment of a container cannot be created: a config map, a secret or a key that does not exist. Upstream:
 * kubernetes/pkg/kubelet (makeEnvironmentVariables).
 */
export function environmentProblem({ metadata }: Pod, { env = [], envFrom = [] }: Container, cluster: ClusterSources): string | undefined {
  const { namespace = '' } = metadata;
  for (const { configMapRef, secretRef } of envFrom) {
    const resource = configMapRef ? 'configmaps' : 'secrets';
    const { name = '', optional } = configMapRef ?? secretRef ?? {};
    if (!optional && !cluster.read(resource, namespace, name)) return notFound(resource, name);
  }
  for (const { valueFrom: { configMapKeyRef, secretKeyRef } = {} } of env) {
    const reference = configMapKeyRef ?? secretKeyRef;
    if (!reference || reference.optional) continue;
    const resource = configMapKeyRef ? 'configmaps' : 'secrets';
    const { name = '', key = '' } = reference;
    const object = cluster.read(resource, namespace, name);
    if (!object) return notFound(resource, name);
    if (!hasKey(object, key, false)) return `couldn't find key ${key} in ${kindOf[resource]} ${namespace}/${name}`;
  }
  return undefined;
}

function notFound(resource: SourceResource, name: string): string {
  return `${singular[resource]} ${quote(name)} not found`;
}

/** True if the object has the key; variables do not see the binary data of a config map. */
function hasKey({ data = {}, ...object }: ConfigMap | Secret, key: string, withBinaryData: boolean): boolean {
  const { binaryData = {} } = object as ConfigMap;
  return Object.hasOwn(data, key) || (withBinaryData && Object.hasOwn(binaryData, key));
}

/** True if variables of the container come from config maps or secrets, whose values at its start they keep. */
export function hasChangingVariables({ env = [], envFrom = [] }: Container): boolean {
  return envFrom.length > 0 || env.some(({ valueFrom }) => valueFrom?.configMapKeyRef ?? valueFrom?.secretKeyRef);
}
