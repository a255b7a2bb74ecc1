import type { Informer, KubeObject } from 'kubenest/sdk';
import { compareUtf8 } from '#sdk/internal';

/** Returns the class marked as default: the newest one, then the first by name. Upstream: pkg/volume/util/storageclass.go. */
export function defaultClassOf(classes: Informer, annotations: readonly string[]): KubeObject | undefined {
  const isDefault = ({ metadata }: KubeObject): boolean => annotations.some((annotation) => metadata.annotations?.[annotation] === 'true');
  const newestFirst = (a: KubeObject, b: KubeObject): number =>
    compareUtf8(b.metadata.creationTimestamp ?? '', a.metadata.creationTimestamp ?? '') ||
    compareUtf8(a.metadata.name ?? '', b.metadata.name ?? '');
  return classes.list().filter(isDefault).sort(newestFirst)[0];
}
