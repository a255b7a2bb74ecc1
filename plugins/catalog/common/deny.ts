import {
  type Attributes,
  changedPodTemplate,
  containersOf,
  deny,
  imagesOf,
  type KubeObject,
  type PlacedContainer,
  type PlacedImage,
} from 'kubenest/sdk';

/** Number of problems that a denial names. */
const named = 5;

/** Denies a request for the problems that a rule found; admits it if there are none. */
export function denyFor(request: Attributes, problems: readonly string[]): void {
  if (problems.length === 0) return;
  const others = problems.length - named;
  deny(request, `${problems.slice(0, named).join('; ')}${others > 0 ? `; and ${others} more` : ''}`);
}

/**
 * Returns the problems of the object that it did not have before: objects that are older than a rule can still be changed, and lose their
 * finalizers.
 */
export function newProblems({ object, oldObject }: Attributes, problemsOf: (object: KubeObject) => string[]): string[] {
  const problems = problemsOf(object);
  if (problems.length === 0 || !oldObject) return problems;
  const before = new Set(problemsOf(oldObject));
  return problems.filter((problem) => !before.has(problem));
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

/**
 * Denies a request whose changed pod template has an image with a problem, of a container or a volume. The messages begin with its path.
 */
export function denyImages(request: Attributes, check: (placed: PlacedImage) => string | undefined): void {
  const template = changedPodTemplate(request);
  if (!template) return;
  const problems = imagesOf(template).flatMap((placed) => {
    const problem = check(placed);
    return problem === undefined ? [] : [`${placed.path}: ${problem}`];
  });
  denyFor(request, problems);
}
