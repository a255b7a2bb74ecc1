import { type Policy, parseLevel, parseVersion, type Mode } from './level.ts';

/** Upstream: pod-security-admission/admission/api (PodSecurityConfiguration). */
export class PodSecurityConfiguration {
  defaults: Readonly<Record<string, string>> = {};
  exemptions: {
    readonly usernames?: readonly string[];
    readonly namespaces?: readonly string[];
    readonly runtimeClasses?: readonly string[];
  } = {};
}

/** What counts in namespaces that do not say. Throws for wrong levels and versions. */
export function defaultPolicyOf({ defaults }: PodSecurityConfiguration): Policy {
  const modeOf = (mode: Mode) => ({
    level: parseLevel(defaults[mode] || 'privileged'),
    version: parseVersion(defaults[`${mode}-version`] || 'latest'),
  });
  return { enforce: modeOf('enforce'), audit: modeOf('audit'), warn: modeOf('warn') };
}
