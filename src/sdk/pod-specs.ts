import { type KubeObject, type ObjectMeta, parseGroupVersion } from '#apimachinery/meta/types';
import { derivedOnce, isNotedFrozen } from '#apimachinery/runtime/deep-freeze';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import type { AdmissionMatch, Attributes } from '#apiserver/admission/attributes';
import type { Container, PodSpec } from '#kubernetes/schema/core_v1.gen';

/**
 * Requests that create or change the spec of a pod or of an object that has a pod template, for `match`. It includes the subresources of
 * pods that change containers (`ephemeralcontainers`, `resize`). `podSpecOf` reads all of these objects.
 */
export const workloads: readonly AdmissionMatch[] = [
  { groups: [''], resources: ['pods'], subresources: ['', 'ephemeralcontainers', 'resize'], operations: ['CREATE', 'UPDATE'] },
  { groups: [''], resources: ['podtemplates', 'replicationcontrollers'], operations: ['CREATE', 'UPDATE'] },
  { groups: ['apps'], resources: ['daemonsets', 'deployments', 'replicasets', 'statefulsets'], operations: ['CREATE', 'UPDATE'] },
  { groups: ['batch'], resources: ['cronjobs', 'jobs'], operations: ['CREATE', 'UPDATE'] },
];

/** Metadata and spec of a pod, or of the pods that an object creates. */
export interface PodTemplate {
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
  /** Path of the spec in the object: `spec`, `spec.template.spec`. */
  readonly path: string;
}

/** Members that lead to the pod template, by group and kind. */
const templatePaths: Readonly<Record<string, readonly string[]>> = {
  '/Pod': [],
  '/PodTemplate': ['template'],
  '/ReplicationController': ['spec', 'template'],
  'apps/DaemonSet': ['spec', 'template'],
  'apps/Deployment': ['spec', 'template'],
  'apps/ReplicaSet': ['spec', 'template'],
  'apps/StatefulSet': ['spec', 'template'],
  'batch/CronJob': ['spec', 'jobTemplate', 'spec', 'template'],
  'batch/Job': ['spec', 'template'],
};

/**
 * Returns the pod template of a PodTemplate, ReplicationController, ReplicaSet, Deployment, StatefulSet, DaemonSet, Job or CronJob, and for
 * a Pod its own metadata and spec. Returns undefined for other kinds, and for objects without a spec of the pod.
 *
 *     podTemplateOf(cronJob)?.path   ->   'spec.jobTemplate.spec.template.spec'
 */
export function podTemplateOf(object: KubeObject | undefined): PodTemplate | undefined {
  return object && templateOf(object);
}

const templateOf = derivedOnce((object: KubeObject): PodTemplate | undefined => {
  const key = `${parseGroupVersion(object.apiVersion).group}/${object.kind}`;
  const path = Object.hasOwn(templatePaths, key) ? templatePaths[key] : undefined;
  if (!path) return undefined;
  let template: { readonly [field: string]: unknown } | undefined = object;
  for (const member of path) template = template?.[member] as typeof template;
  const { metadata, spec } = (template ?? {}) as { readonly metadata?: ObjectMeta; readonly spec?: PodSpec };
  return spec && { metadata: metadata ?? {}, spec, path: [...path, 'spec'].join('.') };
});

/**
 * Returns the spec of a Pod, or of the pods that an object of another kind creates; undefined if it creates none (see `podTemplateOf`).
 *
 *     podSpecOf(deployment)?.hostNetwork
 */
export function podSpecOf(object: KubeObject | undefined): PodSpec | undefined {
  return podTemplateOf(object)?.spec;
}

/**
 * Returns the pod template that a request creates or changes. Returns undefined if there is none, or if an update leaves its spec as it is:
 * labels, finalizers and replicas of objects that are older than a policy can still be changed.
 */
export function changedPodTemplate({ object, oldObject }: Pick<Attributes, 'object' | 'oldObject'>): PodTemplate | undefined {
  const template = podTemplateOf(object);
  const before = podTemplateOf(oldObject);
  return template && before && hasSameSpec(template, before) ? undefined : template;
}

/** Templates of frozen objects, which all rules of a request share, with the ones that were compared with them. */
const comparisons = new WeakMap<PodTemplate, { readonly before: PodTemplate; readonly isSame: boolean }>();

function hasSameSpec(template: PodTemplate, before: PodTemplate): boolean {
  const known = comparisons.get(template);
  if (known?.before === before) return known.isSame;
  const isSame = semanticDeepEqual(template.spec, before.spec);
  if (isNotedFrozen(template) && isNotedFrozen(before)) comparisons.set(template, { before, isSame });
  return isSame;
}

/** A container of a pod, with its place. */
export interface PlacedContainer {
  readonly container: Container;
  readonly sort: 'container' | 'init container' | 'ephemeral container';
  /** Path in the object: `spec.template.spec.initContainers[0]`. */
  readonly path: string;
}

const containerFields = [
  { field: 'initContainers', sort: 'init container' },
  { field: 'containers', sort: 'container' },
  { field: 'ephemeralContainers', sort: 'ephemeral container' },
] as const;

/**
 * Returns the containers of all sorts: a policy that forgets one of them can be bypassed. The argument is an object that `podTemplateOf`
 * knows, a template that it returned, or a pod spec, in which the paths begin.
 *
 *     for (const { container, path } of containersOf(deployment)) check(container.image, `${path}.image`);
 */
export function containersOf(from: KubeObject | PodTemplate | PodSpec): PlacedContainer[] {
  return [...placedContainers(from)];
}

const placedContainers = derivedOnce((from: KubeObject | PodTemplate | PodSpec): readonly PlacedContainer[] => {
  const { spec, prefix } = placeOf(from);
  if (!spec) return [];
  return containerFields.flatMap(({ field, sort }) =>
    (spec[field] ?? []).map((container, index) => ({ container, sort, path: `${prefix}${field}[${index}]` })),
  );
});

/** An image of a pod, with its place. */
export interface PlacedImage {
  /** As it is written; empty if it is absent. */
  readonly image: string;
  readonly pullPolicy: string;
  readonly sort: PlacedContainer['sort'] | 'volume';
  /** Path of the object that has the image: `spec.template.spec.containers[0]`, `spec.volumes[0].image`. */
  readonly holder: string;
  /** Path of the image: `spec.template.spec.containers[0].image`, `spec.volumes[0].image.reference`. */
  readonly path: string;
  /** Replaces the image in the object. */
  replace(image: string): void;
}

/**
 * Returns the images of all containers and of image volumes: a policy that forgets one of them can be bypassed. The argument is that of
 * `containersOf`.
 *
 *     for (const { image, path } of imagesOf(deployment)) check(image, path);
 */
export function imagesOf(from: KubeObject | PodTemplate | PodSpec): PlacedImage[] {
  return [...placedImages(from)];
}

const placedImages = derivedOnce((from: KubeObject | PodTemplate | PodSpec): readonly PlacedImage[] => {
  const ofContainers = containersOf(from).map(
    ({ container, sort, path }): PlacedImage => ({
      image: container.image ?? '',
      pullPolicy: container.imagePullPolicy ?? '',
      sort,
      holder: path,
      path: `${path}.image`,
      replace: (image) => {
        container.image = image;
      },
    }),
  );
  const { spec, prefix } = placeOf(from);
  const ofVolumes = (spec?.volumes ?? []).flatMap(({ image: source }, index): PlacedImage[] => {
    if (!source) return [];
    const holder = `${prefix}volumes[${index}].image`;
    return [
      {
        image: source.reference ?? '',
        pullPolicy: source.pullPolicy ?? '',
        sort: 'volume',
        holder,
        path: `${holder}.reference`,
        replace: (image) => {
          source.reference = image;
        },
      },
    ];
  });
  return [...ofContainers, ...ofVolumes];
});

function placeOf(from: KubeObject | PodTemplate | PodSpec): { readonly spec: PodSpec | undefined; readonly prefix: string } {
  const { spec, path } =
    'kind' in from ? (podTemplateOf(from as KubeObject) ?? {}) : 'spec' in from ? (from as PodTemplate) : { spec: from as PodSpec };
  return { spec, prefix: path === undefined ? '' : `${path}.` };
}
