/** The Kubernetes version whose API this is. */
export const gitVersion = 'v1.36.3';
/** Its minor version. */
export const apiMinor = 36;
/** The oldest minor version that kube-apiserver of this version emulates. */
export const oldestEmulatedMinor = 33;

/** Minor versions that a server is said to behave as. */
export interface EmulatedVersion {
  readonly emulated: number;
  readonly minCompatibility: number;
}

/** Those of a server that emulates no other. */
export const ownVersion: EmulatedVersion = { emulated: apiMinor, minCompatibility: apiMinor - 1 };

/** What the server says of its version. */
export type VersionInfo = Readonly<Record<string, string>>;

/** The answer of /version. Upstream: apimachinery/pkg/version. */
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
