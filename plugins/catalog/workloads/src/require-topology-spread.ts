import { AdmissionPlugin, type Attributes, changedPodTemplate, Configuration, deny, inject } from 'kubenest/sdk';
import { IsSomeTexts } from '../../common/configuration.ts';
import { quoted } from '../../common/patterns.ts';
import { replicated } from './pod-makers.ts';

export class RequireTopologySpreadConfiguration {
  /** Topology keys that need a constraint each. */
  @IsSomeTexts()
  topologyKeys: string[] = ['kubernetes.io/hostname'];
}

/** Denies deployments and stateful sets with several replicas that do not spread them. */
@AdmissionPlugin({ name: 'RequireTopologySpread', configuration: RequireTopologySpreadConfiguration, match: replicated })
export class RequireTopologySpread {
  constructor(@inject(Configuration) private readonly configuration: RequireTopologySpreadConfiguration) {}

  validate(request: Attributes): void {
    const { object, oldObject } = request;
    const template = changedPodTemplate(replicasOf(object) === replicasOf(oldObject) ? request : { object, oldObject: undefined });
    if (!template || replicasOf(object) < 2) return;
    const keys = (template.spec.topologySpreadConstraints ?? []).map(({ topologyKey }) => topologyKey);
    const missing = this.configuration.topologyKeys.filter((key) => !keys.includes(key));
    if (missing.length > 0) deny(request, `${template.path}.topologySpreadConstraints: missing topology keys ${quoted(missing)}`);
  }
}

function replicasOf(object: Attributes['oldObject']): number {
  return (object?.['spec'] as { readonly replicas?: number } | undefined)?.replicas ?? 1;
}
