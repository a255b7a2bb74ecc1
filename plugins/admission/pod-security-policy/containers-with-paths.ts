import { fieldPath } from 'kubenest/sdk';
import { type Container, type ContainerSort, containersOf, type Pod } from '../../common/pod-walker.ts';

export type Path = ReturnType<typeof fieldPath>;

const listOf: Readonly<Record<ContainerSort, string>> = {
  container: 'containers',
  'init container': 'initContainers',
  'ephemeral container': 'ephemeralContainers',
};

/** Yields the containers of all kinds with their paths: `spec.initContainers[0]`. */
export function* containersWithPaths(pod: Pod): Iterable<{ readonly container: Container; readonly path: Path }> {
  let before: ContainerSort | undefined;
  let index = 0;
  for (const { sort, container } of containersOf(pod.spec)) {
    index = sort === before ? index + 1 : 0;
    before = sort;
    yield { container, path: fieldPath('spec', listOf[sort]).index(index) };
  }
}
