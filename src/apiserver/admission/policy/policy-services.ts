import type { Manifests } from '#apiserver/admission/manifest/manifests';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import type { Metrics } from '#apiserver/base/metrics/metrics';
import type { ShutdownSignal } from '#apiserver/base/shutdown-signal';
import type { Informers } from '#apiserver/registry/informers';
import type { ServedKinds } from '#apiserver/registry/served-kinds';

/** The services of the server that admission policies use; a part of PluginServices. */
export interface PolicyServices {
  readonly informers: Informers;
  readonly servedKinds: ServedKinds;
  readonly authorizer: Authorizer;
  readonly metrics: Metrics;
  readonly shutdownSignal: ShutdownSignal;
  readonly manifests: Manifests;
}
