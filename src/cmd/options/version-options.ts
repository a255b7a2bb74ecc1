import { apiMinor, type EmulatedVersion, oldestEmulatedMinor } from '#cmd/version';
import { Check, Flag, Warn } from './flag.ts';

/** Version that the server emulates for its clients. Upstream: component-base/compatibility/registry.go. */
export class VersionOptions {
  /** `1.35` or `kube=1.35`: the version that /version reports. The API remains that of the binary. */
  @Flag('emulated-version')
  @Check<VersionOptions>((texts: readonly string[], options) => {
    const found = minorOf(texts);
    if (typeof found === 'string') return found;
    const minor = options.effective().emulated;
    if (isBetween(minor, oldestEmulatedMinor, apiMinor)) return undefined;
    return `emulation version 1.${minor} is not between [1.${oldestEmulatedMinor}, 1.${apiMinor}.0]`;
  })
  @Warn<VersionOptions>((_texts, options) => {
    const { emulated } = options.effective();
    return emulated === apiMinor ? undefined : `--emulated-version: /version reports 1.${emulated}; the API remains that of 1.${apiMinor}`;
  })
  emulatedVersion: readonly string[] = [];

  @Flag('min-compatibility-version')
  @Check<VersionOptions>((texts: readonly string[], options) => {
    const found = minorOf(texts);
    if (typeof found === 'string') return found;
    const { emulated, minCompatibility: minor } = options.effective();
    if (isBetween(minor, oldestEmulatedMinor, emulated)) return undefined;
    return `minCompatibilityVersion version 1.${minor} is not between [1.${oldestEmulatedMinor}, 1.${emulated}]`;
  })
  minCompatibilityVersion: readonly string[] = [];

  @Flag('emulation-forward-compatible')
  @Check<VersionOptions>((on: boolean, options) => forwardProblem(on, options, 'EmulationForwardCompatible'))
  emulationForwardCompatible = false;

  @Flag('runtime-config-emulation-forward-compatible')
  @Check<VersionOptions>((on: boolean, options) => forwardProblem(on, options, 'RuntimeConfigEmulationForwardCompatible'))
  runtimeConfigEmulationForwardCompatible = false;

  /** Returns the effective minor versions. The compatibility version defaults to the version before the emulated one. */
  effective(): EmulatedVersion {
    const emulated = numberOr(minorOf(this.emulatedVersion), apiMinor);
    return { emulated, minCompatibility: numberOr(minorOf(this.minCompatibilityVersion), Math.max(oldestEmulatedMinor, emulated - 1)) };
  }
}

/** Returns the minor Kubernetes version in the values of a flag: undefined without a value, a message for an invalid one. */
function minorOf(texts: readonly string[]): number | string | undefined {
  const [text, second] = texts;
  if (text === undefined) return undefined;
  const [, component = 'kube', version = ''] = /^(?:([^=]*)=)?(.*)$/.exec(text) ?? [];
  if (component.trim() !== 'kube') return `component not registered: ${component.trim()}`;
  if (second !== undefined) return `duplicate version flag, ${text} and ${second}`;
  const [, major, minor, patch = '0'] = /^v?(\d+)\.(\d+)(?:\.(\d+))?$/.exec(version.trim()) ?? [];
  if (minor === undefined) return `could not parse ${JSON.stringify(version)} as version`;
  if (patch !== '0') return `patch version not allowed, got: kube=${version}`;
  return major === '1' ? Number(minor) : Number.NaN;
}

function numberOr(value: number | string | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function isBetween(minor: number, lowest: number, highest: number): boolean {
  return minor >= lowest && minor <= highest;
}

function forwardProblem(on: boolean, options: VersionOptions, name: string): string | undefined {
  if (!on || options.effective().emulated !== apiMinor) return undefined;
  return `ServerRunOptions.${name} cannot be set to true if the emulation version is the same as the binary version`;
}
