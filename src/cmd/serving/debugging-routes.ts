import { installDebugFlags } from '#apiserver/server/debugging/debug-flags';
import { debuggingPage } from '#apiserver/server/debugging/debugging-page';
import { Flagz } from '#apiserver/server/debugging/flagz';
import { installProfiling } from '#apiserver/server/debugging/profiling';
import { Statusz } from '#apiserver/server/debugging/statusz';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';
import { metricsHandler, metricsHandlerWithReset } from '#apiserver/server/metrics/metrics-endpoint';
import type { DebuggingConfig } from '#cmd/server-config';
import type { VersionInfo } from '#cmd/version';

export interface DebuggingRoutes {
  readonly registry: LimitedRegistry;
  readonly config: DebuggingConfig;
  readonly version: VersionInfo;
  readonly hasCbor: boolean;
  readonly features: FeatureGates;
  setVerbosity(verbosity: number): void;
  /** Returns the paths that `/` lists. */
  listed(): Iterable<string>;
}

/**
 * Installs the debugging endpoints: metrics, /statusz, /flagz and the paths below /debug. Upstream: apiserver/pkg/server/config.go
 * (installAPI).
 */
export function installDebugging({ mux, indicators }: GenericServer, routes: DebuggingRoutes): void {
  const { registry, config, hasCbor } = routes;
  if (config.profiling) {
    installProfiling(mux);
    installDebugFlags(mux, routes.setVerbosity);
  }
  mux.handle('/metrics', config.profiling ? metricsHandlerWithReset(registry) : metricsHandler(registry));
  const ofHealth = indicators.registry;
  mux.handle('/metrics/slis', config.profiling ? metricsHandlerWithReset(ofHealth, () => indicators.reset()) : metricsHandler(ofHealth));
  const { goVersion = '', gitVersion = '', emulationMajor, emulationMinor } = routes.version;
  const versions = { runtime: goVersion, binary: gitVersion.slice(1), emulation: `${emulationMajor}.${emulationMinor}` };
  if (routes.features.enabled('ComponentStatusz')) mux.handle('/statusz', debuggingPage(new Statusz(versions, routes.listed), hasCbor));
  if (routes.features.enabled('ComponentFlagz')) mux.handle('/flagz', debuggingPage(new Flagz(config.flags), hasCbor));
}
