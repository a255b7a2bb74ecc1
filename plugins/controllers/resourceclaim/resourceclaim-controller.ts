import {
  Controller,
  ControllerClient,
  EventRecorder,
  inject,
  isConflict,
  type KubeObject,
  type ReconcileRequest,
  type ReconcileResult,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { Pod, PodResourceClaim, PodResourceClaimStatus } from 'kubenest/types/core_v1';
import type { ResourceClaim, ResourceClaimTemplate } from 'kubenest/types/resource_v1';
import { claimOf } from '../../common/resource-claims.ts';
import { asManager } from '../common/as-manager.ts';
import { pods } from '../common/pods.ts';
import { ClaimRelease } from './claim-release.ts';
import { claimNamePrefix, isForPod, isPodDone, needsReservation, owningPod, podClaimAnnotation, podNeedsWork } from './pod-claims.ts';
import { claims } from './resources.ts';

const templates = { group: 'resource.k8s.io', resource: 'resourceclaimtemplates' } as const;
/** Start of the name in requests for pods: `pod/NAME`. Names of claims have no slash. */
const podPrefix = 'pod/';
const fieldManager = 'ResourceClaimController';
/** Indexes of pods by the claims and templates that they name, and of claims by the uid of their pod. */
const podsByClaim = 'resourceClaim';
const podsByTemplate = 'resourceClaimTemplate';
const claimsByPod = 'owningPod';

/**
 * Generates ResourceClaims from the templates that pods name, reserves allocated claims for pods that have a node already, and releases the
 * claims of pods that are done. Upstream: pkg/controller/resourceclaim.
 */
@Controller({
  name: 'resourceclaim-controller',
  serviceAccount: 'resource-claim-controller',
  component: 'resource_claim',
  for: claims,
  concurrency: 10,
  ...asManager,
})
export class ResourceClaimController {
  readonly #pods: SharedInformer<Pod>;
  readonly #claims: SharedInformer<ResourceClaim>;
  readonly #templates: SharedInformer<ResourceClaimTemplate>;
  readonly #release: ClaimRelease;
  /** Generated claims that the informer does not know yet, by the pod's uid and the entry's name: a retry must not generate another one. */
  readonly #generated = new Map<string, ResourceClaim>();

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#pods = informers.for<Pod>(pods);
    this.#claims = informers.for<ResourceClaim>(claims);
    this.#templates = informers.for<ResourceClaimTemplate>(templates);
    this.#release = new ClaimRelease(client, this.#pods);
    this.#pods.addIndex(podsByClaim, claimKeys);
    this.#pods.addIndex(podsByTemplate, ({ metadata, spec }) =>
      (spec?.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: name }) => (name ? [`${metadata.namespace}/${name}`] : [])),
    );
    this.#claims.addIndex(claimsByPod, (claim) => {
      const owner = owningPod(claim);
      return owner ? [owner.uid] : [];
    });
  }

  /** The claims of a pod that is done or gone, and a pod with claims to generate or reserve. */
  @Watches(pods)
  *requestsOfPod(pod: Pod): Iterable<ReconcileRequest> {
    const { namespace = '', name = '', uid } = pod.metadata;
    const isPresent = this.#pods.get(namespace, name)?.metadata.uid === uid;
    if (!isPresent || isPodDone(pod)) for (const key of claimKeys(pod)) yield { namespace, name: key.slice(namespace.length + 1) };
    if (isPresent && podNeedsWork(pod, this.#claims)) yield { namespace, name: `${podPrefix}${name}` };
  }

  @Watches(claims)
  *requestsOfClaim(claim: ResourceClaim): Iterable<ReconcileRequest> {
    const owner = owningPod(claim);
    if (owner) this.#generated.delete(generatedKey(owner.uid, claim.metadata.annotations?.[podClaimAnnotation]));
    for (const pod of this.#pods.byIndex(podsByClaim, `${claim.metadata.namespace}/${claim.metadata.name}`)) yield* this.requestsOfPod(pod);
  }

  @Watches(templates)
  *requestsOfTemplate({ metadata }: KubeObject): Iterable<ReconcileRequest> {
    for (const pod of this.#pods.byIndex(podsByTemplate, `${metadata.namespace}/${metadata.name}`)) yield* this.requestsOfPod(pod);
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    try {
      if (name.startsWith(podPrefix)) await this.#syncPod(namespace, name.slice(podPrefix.length));
      else await this.#release.sync(this.#claims.get(namespace, name));
      return {};
    } catch (error) {
      if (isConflict(error)) return { requeue: true };
      throw error;
    }
  }

  async #syncPod(namespace: string, name: string): Promise<void> {
    const pod = this.#pods.get(namespace, name);
    if (!pod || pod.metadata.deletionTimestamp) return;
    const generated: PodResourceClaimStatus[] = [];
    for (const entry of pod.spec?.resourceClaims ?? []) {
      try {
        const claim = await this.#generate(pod, entry);
        if (claim) generated.push({ name: entry.name ?? '', resourceClaimName: claim.metadata.name ?? '' });
      } catch (error) {
        const message = `PodResourceClaim ${entry.name}: ${(error as Error).message}`;
        this.recorder.event(pod, 'Warning', 'FailedResourceClaimCreation', message);
        throw new Error(`pod ${namespace}/${name}, ${message}`, { cause: error });
      }
    }
    if (generated.length > 0) await this.#recordGenerated(pod, generated);
    if (pod.spec?.nodeName) await this.#reserve(pod);
  }

  /** Returns the claim for an entry with a template that has none yet; undefined if nothing is to be generated. */
  async #generate(pod: Pod, entry: PodResourceClaim): Promise<ResourceClaim | undefined> {
    const { namespace = '', uid = '' } = pod.metadata;
    const reference = claimOf(pod, entry);
    if (reference) {
      const claim = reference.name === undefined ? undefined : this.#claims.get(namespace, reference.name);
      if (reference.name === undefined || (claim && isForPod(pod, claim, reference))) return undefined;
    }
    if (entry.resourceClaimTemplateName === undefined) return undefined;
    const key = generatedKey(uid, entry.name);
    const isOfEntry = ({ metadata }: ResourceClaim): boolean => metadata.annotations?.[podClaimAnnotation] === entry.name;
    const known = this.#claims.byIndex(claimsByPod, uid).find(isOfEntry) ?? this.#generated.get(key);
    if (known) return known;
    const claim = await this.#create(pod, entry);
    if (!this.#claims.get(namespace, claim.metadata.name ?? '')) this.#generated.set(key, claim);
    return claim;
  }

  async #create(
    { metadata }: Pod,
    { name: entry = '', resourceClaimTemplateName: templateName = '' }: PodResourceClaim,
  ): Promise<ResourceClaim> {
    const { namespace = '', name = '', uid = '' } = metadata;
    const template = this.#templates.get(namespace, templateName);
    if (!template)
      throw new Error(`resource claim template "${templateName}": resourceclaimtemplate.resource.k8s.io "${templateName}" not found`);
    const { metadata: { annotations, labels } = {}, spec } = template.spec ?? {};
    const claim = {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata: {
        namespace,
        generateName: claimNamePrefix(name, entry),
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
        annotations: { ...annotations, [podClaimAnnotation]: entry },
        ...(labels && { labels }),
      },
      spec,
    };
    try {
      return await this.client.create(claims, claim as ResourceClaim);
    } catch (error) {
      throw new Error(`create ResourceClaim : ${(error as Error).message}`, { cause: error });
    }
  }

  /** The entries that are recorded already are applied again, since entries that a manager leaves out are removed. */
  async #recordGenerated({ metadata, status }: Pod, generated: readonly PodResourceClaimStatus[]): Promise<void> {
    const { namespace, name } = metadata;
    const recorded = status?.resourceClaimStatuses?.filter((one) => !generated.some((other) => other.name === one.name)) ?? [];
    const resourceClaimStatuses = [...recorded, ...generated];
    const applied = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name }, status: { resourceClaimStatuses } };
    await this.client.apply({ ...pods, subresource: 'status' }, applied as KubeObject, { force: true, fieldManager });
  }

  /** Reserves the claims of a pod that got its node from another component than the scheduler. */
  async #reserve(pod: Pod): Promise<void> {
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    for (const entry of pod.spec?.resourceClaims ?? []) {
      const reference = claimOf(pod, entry);
      // A claim that was generated just now is reserved when the pod's status is known.
      if (!reference) return;
      if (reference.name === undefined) continue;
      const claim = this.#claims.get(namespace, reference.name);
      if (!claim) return;
      if (!isForPod(pod, claim, reference) || !needsReservation(pod, claim)) continue;
      const reservedFor = [...(claim.status?.reservedFor ?? []), { resource: 'pods', name, uid }];
      await this.client.replace({ ...claims, subresource: 'status' }, { ...claim, status: { ...claim.status, reservedFor } });
    }
  }
}

/** Keys of the claims that exist, or should, for a pod. */
function claimKeys(pod: Pod): string[] {
  const { metadata, spec, status } = pod;
  const names = (spec?.resourceClaims ?? []).map((entry) => claimOf(pod, entry)?.name);
  const extended = status?.extendedResourceClaimStatus?.resourceClaimName;
  return [...names, extended].flatMap((name) => (name ? [`${metadata.namespace}/${name}`] : []));
}

function generatedKey(podUid: string, entry = ''): string {
  return `${podUid}/${entry}`;
}
