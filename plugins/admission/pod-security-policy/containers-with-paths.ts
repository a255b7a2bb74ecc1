import { fieldPath } from 'kubenest/sdk';
import { type ContainerSort, containersOf } from '../../common/pod-walker.ts';
import type { SecuredContainer, SecuredPod } from './policy.ts';

export type Path = ReturnType<typeof fieldPath>;

const listOf: Readonly<Record<ContainerSort, string>> = {
  container: 'containers',
  'init container': 'initContainers',
  'ephemeral container': 'ephemeralContainers',
};

/** Yields the containers of all kinds with their paths: `spec.initContainers[0]`. */
export function* containersWithPaths(pod: SecuredPod): Iterable<{ readonly container: SecuredContainer; readonly path: Path }> {
  let before: ContainerSort | undefined;
  let index = 0;
  for (const { sort, container } of containersOf(pod.spec)) {
    index = sort === before ? index + 1 : 0;
    before = sort;
    yield { container, path: fieldPath('spec', listOf[sort]).index(index) };
  }
}
