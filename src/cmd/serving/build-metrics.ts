import { Gauge, type Registry } from 'prom-client';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import { gateStages } from '#cmd/options/feature-options';
import type { VersionInfo } from '#cmd/version';

/** Go's names of the fields of /version. */
const buildLabels = {
  build_date: 'buildDate',
  compiler: 'compiler',
  git_commit: 'gitCommit',
  git_tree_state: 'gitTreeState',
  git_version: 'gitVersion',
  go_version: 'goVersion',
  major: 'major',
  minor: 'minor',
  platform: 'platform',
} as const;

/** Labels of the emulated and the compatible versions. */
const compatibilityLabels: Readonly<Record<string, (info: VersionInfo) => string>> = {
  binary: ({ gitVersion = '' }) => gitVersion.slice(1),
  emulation: ({ emulationMajor, emulationMinor }) => `${emulationMajor}.${emulationMinor}`,
  min_compat: ({ minCompatibilityMajor, minCompatibilityMinor }) => `${minCompatibilityMajor}.${minCompatibilityMinor}`,
};

/**
 * Registers metrics of the version and of the enabled features. Upstream: component-base/metrics/prometheus (version, compatversion,
 * feature).
 */
export function registerBuildMetrics(registry: Registry, info: VersionInfo, features: FeatureGates): void {
  registry.registerMetric(
    new Gauge({
      name: 'kubernetes_build_info',
      help: "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
      labelNames: Object.keys(buildLabels),
      registers: [],
      collect() {
        this.set(Object.fromEntries(Object.entries(buildLabels).map(([label, field]) => [label, info[field] ?? ''])), 1);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'version_info',
      help: 'Provides the compatibility version info of the component. The component label is the name of the component, usually kube, but is relevant for aggregated-apiservers.',
      labelNames: Object.keys(compatibilityLabels).concat('component'),
      registers: [],
      collect() {
        const values = Object.entries(compatibilityLabels).map(([label, of]) => [label, of(info)]);
        this.set({ ...Object.fromEntries(values), component: 'kube' }, 1);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'kubernetes_feature_enabled',
      help: 'This metric records the data about the stage and enablement of a k8s feature.',
      labelNames: ['name', 'stage'],
      registers: [],
      collect() {
        for (const [name, stage] of gateStages()) this.set({ name, stage: stage === 'GA' ? '' : stage }, features.enabled(name) ? 1 : 0);
      },
    }),
  );
}
