import { type Attributes, changedPodTemplate, containersOf, deny, type PlacedContainer } from 'kubenest/sdk';

/** Number of problems that a denial names. */
const named = 5;

/** Denies a request for the problems that a rule found; admits it if there are none. */
export function denyFor(request: Attributes, problems: readonly string[]): void {
  if (problems.length === 0) return;
  const others = problems.length - named;
  deny(request, `${problems.slice(0, named).join('; ')}${others > 0 ? `; and ${others} more` : ''}`);
}

/** A check of a container. Returns its problem, which follows the path of the field: `image "a:latest" must have …`. */
export type ContainerCheck = (placed: PlacedContainer) => string | undefined;

/**
 * Denies a request whose changed pod template has a container with a problem. The messages begin with the container's path and the field:
 * `spec.containers[0].image: …`.
 */
export function denyContainers(request: Attributes, field: string, check: ContainerCheck): void {
  const template = changedPodTemplate(request);
  if (!template) return;
  const problems = containersOf(template).flatMap((placed) => {
    const problem = check(placed);
    return problem === undefined ? [] : [`${placed.path}.${field}: ${problem}`];
  });
  denyFor(request, problems);
}
