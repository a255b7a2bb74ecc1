import { Expose, IsIn, IsOptional, IsString, Matches, Type, ValidateNested } from 'kubenest/sdk/configuration';
import { type Mode, type Policy, parseLevel, parseVersion } from './level.ts';

const levels = ['privileged', 'baseline', 'restricted'];
const isLevel = { message: `must be one of ${levels.join(', ')}` };
const version = /^(latest|v1\.(0|[1-9][0-9]*))$/;
const isVersion = { message: 'must be "latest" or "v1.x"' };

/** What counts in namespaces that do not say. */
export class PodSecurityDefaults {
  @IsOptional() @IsIn(levels, isLevel) enforce = 'privileged';
  @Expose({ name: 'enforce-version' })
  @IsOptional()
  @Matches(version, isVersion)
  enforceVersion = 'latest';
  @IsOptional() @IsIn(levels, isLevel) audit = 'privileged';
  @Expose({ name: 'audit-version' })
  @IsOptional()
  @Matches(version, isVersion)
  auditVersion = 'latest';
  @IsOptional() @IsIn(levels, isLevel) warn = 'privileged';
  @Expose({ name: 'warn-version' })
  @IsOptional()
  @Matches(version, isVersion)
  warnVersion = 'latest';
}

/** Who and what is not looked at. */
export class PodSecurityExemptions {
  @IsOptional() @IsString({ each: true }) usernames: readonly string[] = [];
  @IsOptional() @IsString({ each: true }) namespaces: readonly string[] = [];
  @IsOptional() @IsString({ each: true }) runtimeClasses: readonly string[] = [];
}

/** Upstream: pod-security-admission/admission/api (PodSecurityConfiguration). */
export class PodSecurityConfiguration {
  static readonly kinds = ['v1', 'v1beta1', 'v1alpha1'].map(
    (version) => `pod-security.admission.config.k8s.io/${version}, PodSecurityConfiguration`,
  );

  @IsOptional()
  @ValidateNested()
  @Type(() => PodSecurityDefaults)
  defaults: Partial<PodSecurityDefaults> = new PodSecurityDefaults();

  @IsOptional()
  @ValidateNested()
  @Type(() => PodSecurityExemptions)
  exemptions: Partial<PodSecurityExemptions> = new PodSecurityExemptions();
}

export function defaultPolicyOf({ defaults }: PodSecurityConfiguration): Policy {
  const modeOf = (mode: Mode) => ({
    level: parseLevel(defaults[mode] ?? 'privileged'),
    version: parseVersion(defaults[`${mode}Version`] ?? 'latest'),
  });
  return { enforce: modeOf('enforce'), audit: modeOf('audit'), warn: modeOf('warn') };
}
