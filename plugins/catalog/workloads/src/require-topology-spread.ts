import { AdmissionPlugin, type Attributes, Client, Configuration, deny, Informers, inject } from 'kubenest/sdk';
import { IsSomeTexts } from '../../common/configuration.ts';
import { quoted } from '../../common/patterns.ts';
import type { StoredObjects } from '../../common/stored-objects.ts';
import { replicated, replicatedTemplate, storedWorkloads } from './replicas.ts';

export class RequireTopologySpreadConfiguration {
  /** Topology keys that need a constraint each. */
  @IsSomeTexts()
  topologyKeys: string[] = ['kubernetes.io/hostname'];
}

/** Denies deployments and stateful sets with several replicas that do not spread them. */
@AdmissionPlugin({ name: 'RequireTopologySpread', configuration: RequireTopologySpreadConfiguration, match: replicated })
export class RequireTopologySpread {
  readonly #workloads: StoredObjects;

  constructor(
    @inject(Configuration) private readonly configuration: RequireTopologySpreadConfiguration,
    @inject(Informers) informers: Informers,
    @inject(Client) client: Client,
  ) {
    this.#workloads = storedWorkloads(informers, client);
  }

  async validate(request: Attributes): Promise<void> {
    const template = await replicatedTemplate(request, this.#workloads);
    if (!template) return;
    const keys = (template.spec.topologySpreadConstraints ?? []).map(({ topologyKey }) => topologyKey);
    const missing = this.configuration.topologyKeys.filter((key) => !keys.includes(key));
    if (missing.length > 0) deny(request, `${template.path}.topologySpreadConstraints: missing topology keys ${quoted(missing)}`);
  }
}
