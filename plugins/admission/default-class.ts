import type { Informer, KubeObject } from 'kubenest/sdk';

/** The class that is marked as the default; of several the newest, then the first by name. Upstream: pkg/volume/util/storageclass.go. */
export function defaultClassOf(classes: Informer, annotations: readonly string[]): KubeObject | undefined {
  const isDefault = ({ metadata }: KubeObject): boolean => annotations.some((annotation) => metadata.annotations?.[annotation] === 'true');
  const newestFirst = (a: KubeObject, b: KubeObject): number =>
    (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? '') ||
    (a.metadata.name ?? '').localeCompare(b.metadata.name ?? '');
  return classes.list().filter(isDefault).sort(newestFirst)[0];
}
