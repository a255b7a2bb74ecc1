import {
  Controller,
  EventRecorder,
  inject,
  kindOf,
  Quantity,
  type ReconcileRequest,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import type { PersistentVolume, PersistentVolumeClaim } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';

const claims = kindOf<PersistentVolumeClaim>({
  group: '',
  version: 'v1',
  resource: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
});
const volumes = { group: '', resource: 'persistentvolumes' };

/**
 * Reports claims that are to grow. The resizer of the volume's driver does the rest: the server has no volume plugins of its own. Upstream:
 * pkg/controller/volume/expand.
 */
@Controller({
  name: 'persistentvolume-expander-controller',
  serviceAccount: 'expand-controller',
  component: 'volume_expand',
  for: claims,
  filter: isLarger,
  concurrency: 10,
  ...asManager,
})
export class PersistentVolumeExpanderController {
  readonly #claims: SharedInformer<PersistentVolumeClaim>;
  readonly #volumes: SharedInformer<PersistentVolume>;

  constructor(
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#claims = informers.for(claims);
    this.#volumes = informers.for<PersistentVolume>(volumes);
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<void> {
    const claim = this.#claims.get(namespace, name);
    if (claim?.status?.phase !== 'Bound') return;
    const claimRef = this.#volumes.get('', claim.spec?.volumeName ?? '')?.spec?.claimRef;
    if (claimRef?.namespace !== namespace || claimRef.uid !== claim.metadata.uid)
      throw new Error(`persistent Volume is not bound to PVC being updated : ${namespace}/${name}`);
    if (requestOf(claim).compare(sizeOf(claim.status.capacity)) <= 0) return;
    this.recorder.event(claim, 'Normal', 'ExternalExpanding', 'waiting for an external controller to expand this PVC');
  }
}

const sizeOf = (quantities: Readonly<Record<string, string>> = {}): Quantity => Quantity.parse(String(quantities['storage'] ?? '0'));
const requestOf = ({ spec }: PersistentVolumeClaim): Quantity => sizeOf(spec?.resources?.requests);

/** True if the request of a known claim grows. */
function isLarger(claim: PersistentVolumeClaim, old: PersistentVolumeClaim | undefined): boolean {
  return old !== undefined && requestOf(claim).compare(requestOf(old)) > 0;
}
