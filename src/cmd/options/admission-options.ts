import { admissionPlugins } from '#cmd/builtin-plugins';
import { Check, Flag } from './flag.ts';
import { nearestName } from './nearest-name.ts';
import { readTable } from './tables.ts';

interface PluginNames {
  readonly onByDefault: readonly string[];
}

/** Which admission plugins are on. Upstream: apiserver/pkg/server/options/admission.go. */
export class AdmissionOptions {
  @Flag('enable-admission-plugins')
  @Check<AdmissionOptions>((names: readonly string[], { disableAdmissionPlugins }) => [
    ...unknownPlugins('enable-admission-plugins', names),
    ...names
      .filter((name) => disableAdmissionPlugins.includes(name))
      .map((name) => `${name} in enable-admission-plugins and disable-admission-plugins overlapped`),
  ])
  enableAdmissionPlugins: readonly string[] = [];

  /** Kept for those who still name all plugins that they want, in the order of which upstream takes no notice either. */
  @Flag('admission-control')
  @Check<AdmissionOptions>((names: readonly string[], { enableAdmissionPlugins, disableAdmissionPlugins }) => [
    ...unknownPlugins('admission-control', names),
    ...(names.length > 0 && (enableAdmissionPlugins.length > 0 || disableAdmissionPlugins.length > 0)
      ? ['admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive']
      : []),
  ])
  admissionControl: readonly string[] = [];

  /** A file of kind AdmissionConfiguration. */
  @Flag('admission-control-config-file')
  admissionControlConfigFile = '';

  @Flag('disable-admission-plugins')
  @Check<AdmissionOptions>((names: readonly string[]) => unknownPlugins('disable-admission-plugins', names))
  disableAdmissionPlugins: readonly string[] = [];

  /**
   * The plugins that are on, in the order in which they run: upstream's default ones, and what the flags say.
   * ServiceAccount asks for accounts that kube-controller-manager makes: a server that is on its own (`standalone`) has it off
   * unless it is named, so that pods can be created on it.
   */
  enabledPlugins(standalone: boolean): string[] {
    if (this.admissionControl.length > 0) return [...admissionPlugins.keys()].filter((name) => this.admissionControl.includes(name));
    const byDefault = pluginNames().onByDefault.filter((name) => !(standalone && name === 'ServiceAccount'));
    const on = new Set([...byDefault, ...this.enableAdmissionPlugins]);
    return [...admissionPlugins.keys()].filter((name) => on.has(name) && !this.disableAdmissionPlugins.includes(name));
  }
}

let names: PluginNames | undefined;

function pluginNames(): PluginNames {
  names ??= readTable<PluginNames>('admission');
  return names;
}

function unknownPlugins(flag: string, wanted: readonly string[]): string[] {
  return wanted
    .filter((name) => !admissionPlugins.has(name))
    .map((name) => {
      const nearest = nearestName(name, [...admissionPlugins.keys()]);
      return `${flag} plugin ${JSON.stringify(name)} is unknown${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
    });
}
