import { admissionPlugins } from '#cmd/builtin-plugins';
import { Check, Flag } from './flag.ts';
import { nearestName } from './nearest-name.ts';
import { readTable } from './tables.ts';

interface PluginNames {
  readonly onByDefault: readonly string[];
}

/** Flags that enable and configure admission plugins. Upstream: apiserver/pkg/server/options/admission.go. */
export class AdmissionOptions {
  @Flag('enable-admission-plugins')
  @Check<AdmissionOptions>((names: readonly string[], { disableAdmissionPlugins }) => [
    ...unknownPlugins('enable-admission-plugins', names),
    ...names
      .filter((name) => disableAdmissionPlugins.includes(name))
      .map((name) => `${name} in enable-admission-plugins and disable-admission-plugins overlapped`),
  ])
  enableAdmissionPlugins: readonly string[] = [];

  /** Deprecated list of all enabled plugins, kept for existing command lines. Its order has no effect, as upstream. */
  @Flag('admission-control')
  @Check<AdmissionOptions>((names: readonly string[], { enableAdmissionPlugins, disableAdmissionPlugins }) => [
    ...unknownPlugins('admission-control', names),
    ...(names.length > 0 && (enableAdmissionPlugins.length > 0 || disableAdmissionPlugins.length > 0)
      ? ['admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive']
      : []),
  ])
  admissionControl: readonly string[] = [];

  /** Path of a file of kind AdmissionConfiguration. */
  @Flag('admission-control-config-file')
  admissionControlConfigFile = '';

  /** May name admission plugins of packages, which are known only once the packages are loaded: see `unknownDisabled`. */
  @Flag('disable-admission-plugins')
  disableAdmissionPlugins: readonly string[] = [];

  /**
   * Enabled plugins in the order in which they run: upstream's defaults, as changed by the flags. ServiceAccount requires accounts that
   * kube-controller-manager creates. A `standalone` server therefore disables it unless a flag names it, so that clients can create pods.
   */
  enabledPlugins(standalone: boolean): string[] {
    if (this.admissionControl.length > 0) return [...admissionPlugins.keys()].filter((name) => this.admissionControl.includes(name));
    const byDefault = pluginNames().onByDefault.filter((name) => !(standalone && name === 'ServiceAccount'));
    const on = new Set([...byDefault, ...this.enableAdmissionPlugins]);
    return [...admissionPlugins.keys()].filter((name) => on.has(name) && !this.disableAdmissionPlugins.includes(name));
  }
}

/** Returns a problem for each disabled plugin that is neither built in nor one of the packages' plugins. */
export function unknownDisabled({ disableAdmissionPlugins }: AdmissionOptions, ofPackages: readonly string[]): string[] {
  const wanted = disableAdmissionPlugins.filter((name) => !ofPackages.includes(name));
  return unknownPlugins('disable-admission-plugins', wanted, ofPackages);
}

let names: PluginNames | undefined;

function pluginNames(): PluginNames {
  names ??= readTable<PluginNames>('admission');
  return names;
}

function unknownPlugins(flag: string, wanted: readonly string[], ofPackages: readonly string[] = []): string[] {
  return wanted
    .filter((name) => !admissionPlugins.has(name))
    .map((name) => {
      const nearest = nearestName(name, [...admissionPlugins.keys(), ...ofPackages]);
      return `${flag} plugin ${JSON.stringify(name)} is unknown${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
    });
}
