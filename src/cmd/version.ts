/** Kubernetes version whose API the server implements. */
export const gitVersion = 'v1.36.3';
/** Minor version of `gitVersion`. */
export const apiMinor = 36;
/** The oldest minor version that kube-apiserver of this version emulates. */
export const oldestEmulatedMinor = 33;

/** Minor versions that a server reports and whose behaviour it emulates. */
export interface EmulatedVersion {
  readonly emulated: number;
  readonly minCompatibility: number;
}

/** Versions of a server that emulates no other version. */
export const ownVersion: EmulatedVersion = { emulated: apiMinor, minCompatibility: apiMinor - 1 };

/** Fields of the version answer. */
export type VersionInfo = Readonly<Record<string, string>>;

/** Returns the answer of /version. Upstream: apimachinery/pkg/version. */
export function versionInfo({ emulated, minCompatibility }: EmulatedVersion): VersionInfo {
  return {
    major: '1',
    minor: String(apiMinor),
    emulationMajor: '1',
    emulationMinor: String(emulated),
    minCompatibilityMajor: '1',
    minCompatibilityMinor: String(minCompatibility),
    gitVersion,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: `node-${process.version}`,
    compiler: 'v8',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
