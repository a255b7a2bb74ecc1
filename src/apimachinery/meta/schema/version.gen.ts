// The types of k8s.io/apimachinery/pkg/version. Written by `npm run generate`; do not edit.

export interface Info {
  major?: string;
  minor?: string;
  emulationMajor?: string;
  emulationMinor?: string;
  minCompatibilityMajor?: string;
  minCompatibilityMinor?: string;
  gitVersion?: string;
  gitCommit?: string;
  gitTreeState?: string;
  buildDate?: string;
  goVersion?: string;
  compiler?: string;
  platform?: string;
}
