// The types of k8s.io/apimachinery/pkg/version for packages. Written by `npm run generate`; do not edit.

/** Info contains versioning information. how we'll want to distribute that information. */
export interface Info {
  /** Major is the major version of the binary version */
  major: string;
  /** Minor is the minor version of the binary version */
  minor: string;
  /** EmulationMajor is the major version of the emulation version */
  emulationMajor?: string;
  /** EmulationMinor is the minor version of the emulation version */
  emulationMinor?: string;
  /** MinCompatibilityMajor is the major version of the minimum compatibility version */
  minCompatibilityMajor?: string;
  /** MinCompatibilityMinor is the minor version of the minimum compatibility version */
  minCompatibilityMinor?: string;
  gitVersion: string;
  gitCommit: string;
  gitTreeState: string;
  buildDate: string;
  goVersion: string;
  compiler: string;
  platform: string;
}
