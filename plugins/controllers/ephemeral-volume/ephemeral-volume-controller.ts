import {
  Controller,
  ControllerClient,
  EventRecorder,
  inject,
  kindOf,
  newControllerReference,
  type ReconcileRequest,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { PersistentVolumeClaim, Pod, Volume } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { podKind } from '../common/pods.ts';
import { indexPodsByClaim, isClaimOfPod, podsByClaim } from '../common/volume-claims.ts';

const claims = kindOf<PersistentVolumeClaim>({
  group: '',
  version: 'v1',
  resource: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
});

/** Creates the claims of ephemeral volumes. Upstream: pkg/controller/volume/ephemeral. */
@Controller({
  name: 'ephemeral-volume-controller',
  component: 'ephemeral_volume',
  for: podKind,
  filter: ({ spec }) => (spec?.volumes ?? []).some(({ ephemeral }) => ephemeral),
  concurrency: 5,
  ...asManager,
})
export class EphemeralVolumeController {
  readonly #pods: SharedInformer<Pod>;
  readonly #claims: SharedInformer<PersistentVolumeClaim>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#pods = informers.for(podKind);
    this.#claims = informers.for(claims);
    indexPodsByClaim(this.#pods);
  }

  /** The pods of a claim that is deleted. */
  @Watches(claims)
  *requestsOfClaim({ metadata: { namespace = '', name = '' } }: PersistentVolumeClaim): Iterable<ReconcileRequest> {
    if (this.#claims.get(namespace, name)) return;
    for (const { metadata } of this.#pods.byIndex(podsByClaim, `${namespace}/${name}`)) yield { namespace, name: metadata.name ?? '' };
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<void> {
    const pod = this.#pods.get(namespace, name);
    if (!pod || pod.metadata.deletionTimestamp) return;
    for (const volume of pod.spec?.volumes ?? []) {
      try {
        await this.#ensureClaim(pod, volume);
      } catch (error) {
        const message = `ephemeral volume ${volume.name}: ${(error as Error).message}`;
        this.recorder.event(pod, 'Warning', 'FailedBinding', message);
        throw new Error(`pod ${namespace}/${name}, ${message}`, { cause: error });
      }
    }
  }

  async #ensureClaim(pod: Pod, { name: volume, ephemeral }: Volume): Promise<void> {
    if (!ephemeral) return;
    const { namespace = '', name: podName } = pod.metadata;
    const name = `${podName}-${volume}`;
    const existing = this.#claims.get(namespace, name);
    if (existing && isClaimOfPod(existing, pod)) return;
    if (existing) throw new Error(`PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`);
    const { metadata: { annotations, labels } = {}, spec } = ephemeral.volumeClaimTemplate ?? {};
    const ownerReferences = [newControllerReference(pod, podKind)];
    const metadata = { name, namespace, ownerReferences, ...(annotations && { annotations }), ...(labels && { labels }) };
    try {
      await this.client.create(claims, {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata,
        spec,
      } as PersistentVolumeClaim);
    } catch (error) {
      throw new Error(`create PVC ${name}: ${(error as Error).message}`, { cause: error });
    }
  }
}
