import type { Path } from '#apimachinery/validation/field';
import type { Container, PodSpec } from '#kubernetes/schema/core_v1.gen';

const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** Calls `visit` for all containers in upstream's order, with their places: the init containers first, the ephemeral ones last. */
export function eachContainer(spec: PodSpec, path: Path, visit: (container: Container, at: () => Path) => void): void {
  for (const list of lists) {
    const containers: readonly Container[] | undefined = spec[list];
    if (!containers) continue;
    for (let i = 0; i < containers.length; i++) visit(containers[i]!, () => path.child(list).index(i));
  }
}
