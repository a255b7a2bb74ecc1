import { hostname } from 'node:os';
import type { Container } from 'inversify';
import { ManifestCodec } from '#apiserver/admission/manifest/manifest-codec';
import { ManifestMetrics } from '#apiserver/admission/manifest/manifest-metrics';
import { ManifestFolders } from '#apiserver/admission/manifest/manifests';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import { systemClock } from '#apiserver/base/clock';
import type { Logger } from '#apiserver/base/logger';
import type { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { RegistryMetrics } from '#apiserver/base/metrics/metrics';
import type { ServiceResolver } from '#apiserver/network/service-resolver';
import { newServiceContainer } from '#apiserver/plugins/plugin-services';
import type { Informers } from '#apiserver/registry/informers';
import type { Scheme } from '#apiserver/registry/scheme';
import { defaultFeatureGates } from '#cmd/options/feature-options';
import { apiServerId } from '#kubernetes/controlplane/identity-lease';
import { ClusterIPResolver } from '#kubernetes/controlplane/services/service-resolvers';
import type { ClusterApi } from './cluster/cluster-api.ts';
import type { ClusterInformers } from './cluster/cluster-informers.ts';
import type { ClusterKinds } from './cluster/cluster-kinds.ts';

/** Parts of the webhook server that its plugins' services use. */
export interface ServiceSources {
  readonly api: ClusterApi;
  readonly informers: ClusterInformers;
  readonly kinds: ClusterKinds;
  readonly authorizer: Authorizer;
  readonly scheme: Scheme;
  readonly registry: LimitedRegistry;
  readonly logger: Logger;
  readonly shutdown: AbortSignal;
}

/** Returns the services that plugins inject: those of the server, over the API of the cluster. */
export function webhookServices({ api, informers, kinds, authorizer, scheme, registry, logger, shutdown }: ServiceSources): Container {
  const metrics = new ManifestMetrics(registry, apiServerId(hostname()));
  return newServiceContainer({
    informers,
    client: api.pluginClient,
    servedKinds: kinds,
    restMapper: kinds,
    authorizer,
    logger,
    metrics: new RegistryMetrics(registry),
    serviceResolver: new LazyResolver(informers),
    manifests: new ManifestFolders({ codec: new ManifestCodec(scheme), metrics, logger, shutdown }),
    clock: systemClock,
    featureGates: defaultFeatureGates(),
    shutdownSignal: shutdown,
  });
}

/** Follows the cluster's Services only if a plugin resolves one. */
class LazyResolver implements ServiceResolver {
  #resolver: ServiceResolver | undefined;

  constructor(private readonly informers: Informers) {}

  resolve(...service: Parameters<ServiceResolver['resolve']>): ReturnType<ServiceResolver['resolve']> {
    this.#resolver ??= new ClusterIPResolver(this.informers);
    return this.#resolver.resolve(...service);
  }
}
