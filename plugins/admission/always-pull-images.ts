import { AdmissionPlugin, type Attributes, forbidden, quote } from 'kubenest/sdk';
import { aggregateMessages } from '#sdk/internal';
import { type Container, containersOf, type Pod } from '../common/pod-walker.ts';

/**
 * Sets imagePullPolicy to Always, so that nodes verify the credentials for private images. Upstream:
 * kubernetes/plugin/pkg/admission/alwayspullimages/admission.go.
 */
@AdmissionPlugin({ name: 'AlwaysPullImages', match: [{ groups: [''], resources: ['pods'], operations: ['CREATE', 'UPDATE'] }] })
export class AlwaysPullImages {
  admit(request: Attributes<Pod>): void {
    if (!hasNewImage(request)) return;
    const { spec } = request.object;
    for (const { container } of containersOf(spec)) container.imagePullPolicy = 'Always';
    for (const { image } of spec.volumes ?? []) if (image) image.pullPolicy = 'Always';
  }

  validate(request: Attributes<Pod>): void {
    if (!hasNewImage(request)) return;
    const { spec } = request.object;
    const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const;
    const wrong = lists.flatMap((list) =>
      placesOf(
        spec[list],
        (at) => `spec.${list}[${at}].imagePullPolicy`,
        ({ imagePullPolicy }) => imagePullPolicy,
      ),
    );
    for (const [at, { image }] of (spec.volumes ?? []).entries())
      if (image && image.pullPolicy !== 'Always') wrong.push([`spec.volumes[${at}].image.pullPolicy`, image.pullPolicy ?? '']);
    if (wrong.length === 0) return;
    const messages = wrong.map(
      ([place, value]) => forbidden(request, `${place}: Unsupported value: ${quote(value)}: supported values: "Always"`).message,
    );
    // Upstream aggregates several API errors into a plain error, which is answered with 500.
    throw new Error(aggregateMessages(messages));
  }
}

function placesOf(
  containers: readonly Container[] = [],
  placeOf: (at: number) => string,
  policyOf: (container: Container) => string | undefined,
): [place: string, value: string][] {
  return containers.flatMap((container, at): [string, string][] =>
    policyOf(container) === 'Always' ? [] : [[placeOf(at), policyOf(container) ?? '']],
  );
}

/** Returns false for an update that adds no image, because its containers are already running. */
function hasNewImage({ object, oldObject }: Attributes<Pod>): boolean {
  if (!oldObject) return true;
  const old = new Set(Array.from(containersOf(oldObject.spec), ({ container }) => container.image));
  return Array.from(containersOf(object.spec)).some(({ container }) => !old.has(container.image));
}
