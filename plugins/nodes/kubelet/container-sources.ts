import { Buffer } from 'node:buffer';
import { posix } from 'node:path';
import type { ConfigMap, Container, KeyToPath, Pod, Secret } from 'kubenest/types/core_v1';
import { mountsOf, type MountedTexts } from '../pods/container-files.ts';
import { UnsupportedScriptError } from '../shell/script.ts';
import { podField } from '../pods/environment.ts';

/** Returns a config map or a secret; undefined if it does not exist. */
export type ReadSource = (resource: Resource, namespace: string, name: string) => Promise<ConfigMap | Secret | undefined>;

/** Environment variables and mounted files of a container from config maps, secrets and the downward API. */
export interface ContainerSources {
  readonly env: Readonly<Record<string, string>>;
  readonly mounted: MountedTexts;
}

/** Maximum length of all texts of a container, and the length for which reading an object counts. */
const maxLength = 2 * 1_048_576;
const lengthOfRead = 1_024;

/**
 * Reads the sources of a container as they are now. Throws UnsupportedScriptError if they are too large for the simulation. Upstream:
 * kubernetes/pkg/kubelet (makeEnvironmentVariables) and pkg/volume.
 */
export async function containerSources(pod: Pod, container: Container, read: ReadSource): Promise<ContainerSources> {
  let left = maxLength;
  const count = (length: number): void => {
    left -= length;
    if (left < 0) throw new UnsupportedScriptError('the volumes and variables of the container are too large for the simulation');
  };
  const sourceOf = async <T extends ConfigMap | Secret>(resource: Resource, name: string | undefined): Promise<T | undefined> => {
    count(lengthOfRead);
    return name === undefined ? undefined : ((await read(resource, pod.metadata.namespace ?? '', name)) as T | undefined);
  };
  const counted = (entries: readonly (readonly [key: string, text: string])[]): ReadonlyMap<string, string> => {
    for (const [key, text] of entries) count(key.length + text.length);
    return new Map(entries);
  };
  const variables: ReadTexts = async (resource, name) =>
    counted(
      resource === 'secrets'
        ? decoded((await sourceOf<Secret>(resource, name))?.data)
        : Object.entries((await sourceOf<ConfigMap>(resource, name))?.data ?? {}),
    );
  const files: ReadTexts = async (resource, name) => {
    if (resource === 'secrets') return variables(resource, name);
    const { data = {}, binaryData } = (await sourceOf<ConfigMap>(resource, name)) ?? {};
    return counted([...Object.entries(data), ...decoded(binaryData)]);
  };
  return { env: await environment(container, variables), mounted: await mountedTexts(pod, container, files, count) };
}

type Resource = 'configmaps' | 'secrets';
type ReadTexts = (resource: Resource, name: string | undefined) => Promise<ReadonlyMap<string, string>>;

function decoded(data: Readonly<Record<string, string>> = {}): [key: string, text: string][] {
  return Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]);
}

async function environment({ env = [], envFrom = [] }: Container, texts: ReadTexts): Promise<Record<string, string>> {
  const result = new Map<string, string>();
  for (const { prefix = '', configMapRef, secretRef } of envFrom) {
    const found = configMapRef ? await texts('configmaps', configMapRef.name) : await texts('secrets', secretRef?.name);
    for (const [key, value] of found) result.set(prefix + key, value);
  }
  for (const { name = '', valueFrom } of env) {
    const { configMapKeyRef, secretKeyRef } = valueFrom ?? {};
    const reference = configMapKeyRef ?? secretKeyRef;
    if (!reference) continue;
    const value = (await texts(configMapKeyRef ? 'configmaps' : 'secrets', reference.name)).get(reference.key ?? '');
    if (value !== undefined) result.set(name, value);
  }
  return Object.fromEntries(result);
}

async function mountedTexts(pod: Pod, container: Container, texts: ReadTexts, count: (length: number) => void): Promise<MountedTexts> {
  const files = new Map<string, string>();
  const volumes = new Set<string>();
  const unknown: string[] = [];
  for (const { path, volume } of mountsOf(pod, container)) {
    const { configMap, secret, downwardAPI, projected, name = '' } = volume ?? {};
    if (!configMap && !secret && !downwardAPI && !projected) continue;
    volumes.add(name);
    const add = (found: ReadonlyMap<string, string>, items: readonly KeyToPath[] | undefined): void => {
      for (const [key, file] of items?.map((item) => [item.key ?? '', item.path ?? ''] as const) ??
        [...found.keys()].map((one) => [one, one])) {
        const text = found.get(key as string);
        if (text !== undefined) files.set(posix.join(path, file as string), text);
      }
    };
    const addFields = (items: NonNullable<typeof downwardAPI>['items'] = []): void => {
      for (const { path: file = '', fieldRef } of items) {
        const text = fieldRef && podField(pod, fieldRef);
        count(lengthOfRead + (text?.length ?? 0));
        if (text === undefined) unknown.push(posix.join(path, file));
        else files.set(posix.join(path, file), text);
      }
    };
    if (configMap) add(await texts('configmaps', configMap.name), configMap.items);
    if (secret) add(await texts('secrets', secret.secretName), secret.items);
    if (downwardAPI) addFields(downwardAPI.items);
    for (const source of projected?.sources ?? []) {
      if (source.configMap) add(await texts('configmaps', source.configMap.name), source.configMap.items);
      else if (source.secret) add(await texts('secrets', source.secret.name), source.secret.items);
      else if (source.downwardAPI) addFields(source.downwardAPI.items);
      else if (source.serviceAccountToken) unknown.push(posix.join(path, source.serviceAccountToken.path ?? ''));
      else unknown.push(path);
    }
  }
  return { texts: Object.fromEntries(files), volumes, unknown };
}
