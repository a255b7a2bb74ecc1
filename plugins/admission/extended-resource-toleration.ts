import { AdmissionPlugin, type Attributes } from 'kubenest/sdk';
import { semanticDeepEqual } from '#sdk/internal';
import type { Pod, Toleration } from '../common/pod-walker.ts';
import { isExtendedResourceName } from '../common/resource-names.ts';

/**
 * Adds tolerations for the extended resources that a pod requests, so that it can run on their dedicated nodes. Upstream:
 * kubernetes/plugin/pkg/admission/extendedresourcetoleration/admission.go.
 */
@AdmissionPlugin({
  name: 'ExtendedResourceToleration',
  match: [{ groups: [''], resources: ['pods'], operations: ['CREATE', 'UPDATE'] }],
})
export class ExtendedResourceToleration {
  admit({ object: { spec } }: Attributes<Pod>): void {
    const names = new Set<string>();
    for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])])
      for (const name of Object.keys(resources?.requests ?? {})) if (isExtendedResourceName(name)) names.add(name);
    for (const key of [...names].sort()) tolerate(spec, { key, operator: 'Exists', effect: 'NoSchedule' });
  }
}

/** Adds a toleration, replacing one of the same taint. */
function tolerate(spec: { tolerations?: Toleration[] }, toleration: Toleration): void {
  const list = (spec.tolerations ??= []);
  const at = list.findIndex(
    ({ key, effect, operator, value }) =>
      key === toleration.key &&
      effect === toleration.effect &&
      operator === toleration.operator &&
      (value ?? '') === (toleration.value ?? ''),
  );
  if (at < 0) list.push(toleration);
  else if (!semanticDeepEqual(list[at], toleration)) list[at] = toleration;
}
