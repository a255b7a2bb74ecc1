import { type Filter, unresolvable } from '../framework/framework.ts';
import { zoneLabel } from '../framework/spread-constraint.ts';
import { claimNames } from '../../common/pod-claims.ts';

const keys = [
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  zoneLabel,
  'topology.kubernetes.io/region',
];

/** A zone or region label of a volume, with the values that it allows. */
interface Domain {
  readonly key: string;
  readonly values: ReadonlySet<string>;
}

/** Rejects nodes outside the zone and region of the pod's volumes. Upstream: plugins/volumezone. */
export const volumeZone: Filter<readonly Domain[]> = {
  name: 'VolumeZone',
  events: ['NodeAdded', 'NodeLabelsChanged', 'StorageChanged'],

  prepare({ pod, namespace }, cluster) {
    const domains = claimNames(pod).flatMap((name) => {
      const labels = cluster.volume(cluster.claim(namespace, name)?.spec?.volumeName ?? '')?.metadata.labels ?? {};
      return keys
        .filter((key) => Object.hasOwn(labels, key))
        .map((key): Domain => ({ key, values: new Set((labels[key] as string).split('__')) }));
    });
    return domains.length === 0 ? 'skip' : { state: domains };
  },

  check(domains, _, { labels }) {
    // Nodes without any such label are of a cluster without zones.
    if (!keys.some((key) => Object.hasOwn(labels, key))) return undefined;
    const isInside = domains.every(({ key, values }) => values.has(labels[key] ?? ''));
    return isInside ? undefined : unresolvable('node(s) had no available volume zone');
  },
};
